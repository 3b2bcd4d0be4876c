import type { Log } from '@portico/sql';
import type { PersonReference } from '../person.ts';

/**
 * The name of the event that the application emits for each AuditEvent. If the host has its own
 * method `audit`, the application emits no such events.
 *
 * @example
 * application.events.on(AUDIT, (event: AuditEvent) => store(event));
 */
export const AUDIT = 'oauth_server.audit';

/**
 * The administrator who acts: `console` for console commands, or the person who is signed in on an
 * administrator's page. Portico's code sets it. It never comes from a request parameter.
 */
export type Administrator = 'console' | PersonReference;

/** The options of every administrative action. */
export interface Acting {
  /** The administrator who performs the action. Omit it if your application's own code does. */
  readonly by?: Administrator;
}

/** The authorization that an event is about. */
export interface AuditedAuthorization {
  /** The id of the authorization. The id alone gives no access. */
  readonly authorization: string;
  /** The client that has the access. */
  readonly clientId: string;
  /** The person who gave the access. */
  readonly person: PersonReference;
}

/**
 * An event for the host's audit log. The host receives it after the change is stored and before the
 * response is sent. Events never contain a secret, a token or a code.
 */
export type AuditEvent =
  | (AuditedAuthorization & {
      readonly type: 'consent_granted';
      readonly scopes: readonly string[];
      readonly audience: string | null;
      /**
       * The id of the earlier authorization with the person's consent. Missing if the person
       * answered on the consent page.
       */
      readonly remembered?: string;
    })
  | { readonly type: 'consent_denied'; readonly clientId: string; readonly person: PersonReference }
  | {
      readonly type: 'tokens_issued';
      /** The `grant_type`, as defined by RFC 6749 or by a feature. */
      readonly grantType: string;
      readonly clientId: string;
      /** Null for client credentials. `authorization` is then also null. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
      readonly scopes: readonly string[];
    }
  /**
   * An authorization code or a refresh token was used a second time, so an attacker may have it.
   * All tokens of the authorization are revoked.
   */
  | (AuditedAuthorization & { readonly type: 'code_replayed' })
  | (AuditedAuthorization & { readonly type: 'refresh_token_replayed' })
  /**
   * A refresh token was used again within `refresh_retry_seconds`. The server sent its first
   * response again.
   */
  | (AuditedAuthorization & { readonly type: 'refresh_token_retried' })
  | (AuditedAuthorization &
      Acting & {
        readonly type: 'family_revoked';
        /**
         * `replay`: a code or token was used a second time. `client`: the client revoked it (RFC
         * 7009). `person` or `operator`: the person or an administrator revoked it. `session`: the
         * person's session ended.
         */
        readonly reason: 'replay' | 'client' | 'person' | 'operator' | 'session';
      })
  /**
   * A client revoked one valid access token, and nothing else (RFC 7009). The event does not
   * identify the token.
   */
  | {
      readonly type: 'access_token_revoked';
      readonly clientId: string;
      /** Null for a client-credentials token. `authorization` is then also null. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
    }
  /**
   * A client requested a sign-out, and the host has ended the session. Not recorded if the host has
   * its own sign-out page.
   */
  | {
      readonly type: 'signed_out';
      /** The client that requested the sign-out. Null if unknown. */
      readonly clientId: string | null;
      readonly person: PersonReference;
      /**
       * True if the person confirmed the sign-out. Otherwise, the client proved with an ID token
       * that it may sign the person out.
       */
      readonly confirmed: boolean;
    }
  /** An administrator revoked all authorizations of a person: one event for all of them. */
  | (Acting & {
      readonly type: 'person_revoked';
      readonly person: PersonReference;
      /** The number of authorizations that were revoked. */
      readonly authorizations: number;
    })
  /**
   * An administrator erased a person. The person's authorizations and subject identifier were
   * removed. In stored events, a pseudonym replaces the person. If erasing failed and was repeated,
   * each call that removed anything has its event, unless the store failed before it confirmed the
   * first removal.
   */
  | (Acting & {
      readonly type: 'person_erased';
      /** The pseudonym that replaces the person in stored audit events. */
      readonly person: PersonReference;
      /** The number of authorizations that were removed. */
      readonly authorizations: number;
      /** False if the call failed, so that data about the person may remain. Otherwise missing. */
      readonly complete?: false;
    })
  /** An administrator ended all access after restoring a backup: one event for all access. */
  | (Acting & {
      readonly type: 'access_ended';
      /**
       * The number of authorizations that ended. The next members count tokens that clients
       * requested for themselves, waiting requests, and initial access tokens.
       */
      readonly authorizations: number;
      readonly clientTokens: number;
      readonly requests: number;
      readonly initialAccessTokens: number;
    })
  /**
   * An administrator imported the subject identifiers of people (`oauth:subject:import`): one event
   * for all of them.
   */
  | (Acting & {
      readonly type: 'subjects_imported';
      /** The number of people whose subject identifier was imported. */
      readonly subjects: number;
    })
  /**
   * An administrator linked an account to a subject identifier at an organization, or removed such
   * a link. An identifier in the event would stay after the person is erased, so the event does not
   * contain it.
   */
  | (Acting & {
      readonly type: 'subject_linked' | 'subject_unlinked';
      readonly person: PersonReference;
      /** The organization's issuer. */
      readonly issuer: string;
      /** The tenant of the issuer, or null. */
      readonly tenant: string | null;
    })
  /**
   * An administrator allowed organizations to give a person access again, after an administrator
   * had ended it.
   */
  | (Acting & {
      readonly type: 'access_allowed';
      readonly person: PersonReference;
      /**
       * The client that organizations may give access again. Null means all clients, except those
       * whose access was also ended separately.
       */
      readonly clientId: string | null;
    })
  /**
   * A client was registered. For a client with a metadata document: a person has seen its first
   * authorization request.
   */
  | (AuditedClient & Acting & { readonly type: 'client_registered' })
  /** A client that registered itself has changed its registration (RFC 7592). */
  | (AuditedClient & { readonly type: 'client_changed' })
  /** An administrator changed a client's registration. */
  | (AuditedClient &
      Acting & {
        readonly type: 'client_updated';
        /**
         * The changed fields before and after the change, for example `redirect_uris`. Keys appear
         * only as ids.
         */
        readonly changes: Readonly<
          Record<string, { readonly before: unknown; readonly after: unknown }>
        >;
      })
  /**
   * A client was revoked. For a client with a metadata document, this blocks its URL, even if no
   * person has used it here.
   */
  | (AuditedClient & Acting & { readonly type: 'client_revoked' })
  /**
   * The URL of a client with a metadata document was unblocked. Its earlier authorizations and
   * tokens stay revoked.
   */
  | (AuditedClient & Acting & { readonly type: 'client_unblocked' })
  | (Acting & {
      readonly type: 'secret_rotated';
      readonly clientId: string;
      /**
       * When the previous secret stops working, in milliseconds since 1970. Null if it no longer
       * works.
       */
      readonly previousExpiresAt: number | null;
    })
  /** An initial access token was created or revoked. Its id alone gives no access. */
  | (Acting & {
      readonly type: 'initial_access_token_created' | 'initial_access_token_revoked';
      readonly initialAccessTokenId: string;
    })
  /**
   * A signing key was added or removed:
   *
   * - `created`: a new key signs immediately.
   * - `staged`: a new key is published now and signs later.
   * - `removed`: a key is no longer published.
   *
   * For a new key, there is either a `created` or a `staged` event, never both.
   */
  | (Acting & {
      readonly type: 'signing_key_created' | 'signing_key_staged' | 'signing_key_removed';
      readonly kid: string;
      readonly algorithm: string;
    })
  /**
   * A signed-in person tried to use an administrator's page or form, and was rejected. Recorded at
   * most once per minute for each person and reason.
   */
  | {
      readonly type: 'admin_refused';
      readonly person: PersonReference;
      /** The name of the route. */
      readonly route: string;
      /**
       * Why the request was rejected:
       *
       * - `permission`: the person lacks the administrator's permission.
       * - `origin`: the form came from a page on another origin.
       * - `form`: the form was created for another person or browser, or is no longer valid.
       */
      readonly reason: 'permission' | 'origin' | 'form';
      /**
       * How many requests of the person were rejected for this reason since the last event, with
       * this one.
       */
      readonly refusals: number;
    }
  /**
   * A client called a tool of an MCP endpoint. Recorded only with `mcp:audit`, without the
   * arguments and the result.
   */
  | {
      readonly type: 'tool_called';
      readonly tool: string;
      readonly clientId: string;
      /** The person for whom the client acted. Null if the client acted for itself. */
      readonly person: PersonReference | null;
      /**
       * The result of the call. `asked`: the tool first asks the user a question, and the client
       * then calls it again with the answer.
       */
      readonly outcome: 'succeeded' | 'failed' | 'asked';
      /** The duration of the call, in milliseconds. */
      readonly duration: number;
    }
  /**
   * A client read a resource of an MCP endpoint. Recorded only with `mcp:audit`, without the
   * content.
   */
  | {
      readonly type: 'resource_read';
      /** The URI of the resource. */
      readonly resource: string;
      readonly clientId: string;
      /** The person for whom the client acted. Null if the client acted for itself. */
      readonly person: PersonReference | null;
      readonly outcome: 'succeeded' | 'failed';
      /** The duration of the read, in milliseconds. */
      readonly duration: number;
    }
  /** A client tried to authenticate with a wrong secret or an invalid assertion. */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_failed' })
  /**
   * After many wrong secrets or assertions, the response was 429 for the first time. Further 429
   * responses are recorded only after 15 minutes without a failed attempt.
   */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_slowed' })
  /**
   * A sign-in with the kit failed, on its own page or the application's: the password was wrong or
   * no account has the identifier. `sign_in_slowed`: the response was 429 for the first time in a
   * series of attempts.
   *
   * These events are stored and streamed. The kit already emits events with these names, so they
   * are not emitted as AuditEvents.
   */
  | (AuditedSignIn & { readonly type: 'sign_in_failed' | 'sign_in_slowed' });

/** The data about a failed sign-in. It never contains what the person typed. */
export interface AuditedSignIn {
  /**
   * The account with the typed identifier. Null if there is no such account or the provider does
   * not report it. Null for `sign_in_slowed`, because the sign-in was not checked.
   */
  readonly person: PersonReference | null;
  /** The IP address of the browser, or null if the host does not know it. */
  readonly address: string | null;
  /** The id of the request, as in the response and the log. Null if unknown. */
  readonly requestId: string | null;
}

/** The client that an event is about, and who registered it. */
export interface AuditedClient {
  /** The client's id. For a client with a metadata document, this is the document's URL. */
  readonly clientId: string;
  /**
   * How the client was registered: by an operator, by itself (`registration`), or through its
   * metadata document (`document`).
   */
  readonly registeredBy: 'operator' | 'registration' | 'document';
}

/** The data about a client's failed attempt to authenticate. */
export interface FailedClientAuthentication {
  /**
   * The client's id. Null if no client has the id that was sent. The sent text could be anything,
   * even a secret, so it is not included.
   */
  readonly clientId: string | null;
  /** The IP address of the request, or null if the host does not know it. */
  readonly address: string | null;
}

/**
 * Passes an event to the host. Never rejects: the change has already happened, so a failure is only
 * logged.
 */
export type Audit = (event: AuditEvent) => Promise<void>;

/**
 * Passes events to `taken`. Never rejects: the change has already happened, so a failure is only
 * logged.
 */
export function takenBy(taken: Audit, log: Log): Audit {
  return async (event) => {
    try {
      await taken(event);
    } catch (exception) {
      log.error('The audit sink failed for the event {type}: {exception}', {
        type: event.type,
        exception,
      });
    }
  };
}

/** Returns the administrator for an event, or an empty object. */
export function actedBy({ by }: Acting = {}): Acting {
  return by === undefined ? {} : { by };
}
