import type { Log } from '@portico/sql';
import type { PersonReference } from '../person.ts';

/**
 * The name under which the host kit emits every AuditEvent:
 * `application.events.on(AUDIT, (event) => …)`.
 */
export const AUDIT = 'oauth_server.audit';

/**
 * The administrator who acts: a user of the console, or a signed-in person on an administrator's
 * page. The code that handles the request sets this value. It never comes from the request itself.
 */
export type Administrator = 'console' | PersonReference;

/** Additional options of an administrator's action. */
export interface Acting {
  /** The administrator who acts. Missing if the application's own code acts. */
  readonly by?: Administrator;
}

/** The authorization that an event is about. */
export interface AuditedAuthorization {
  /** The authorization's id. The id grants no access. */
  readonly authorization: string;
  /** The client that has the authorization. */
  readonly clientId: string;
  /** The person who gave the authorization. */
  readonly person: PersonReference;
}

/**
 * An event for a host's audit log. The host receives it after the change is durable, and before the
 * response is sent. An event never contains a secret, a token or a code.
 */
export type AuditEvent =
  | (AuditedAuthorization & {
      readonly type: 'consent_granted';
      readonly scopes: readonly string[];
      readonly audience: string | null;
      /**
       * The id of the earlier authorization in which the person gave this consent. Missing if the
       * person answered on the consent page.
       */
      readonly remembered?: string;
    })
  | { readonly type: 'consent_denied'; readonly clientId: string; readonly person: PersonReference }
  | {
      readonly type: 'tokens_issued';
      /** The `grant_type`, from RFC 6749 or from a feature. */
      readonly grantType: string;
      readonly clientId: string;
      /** Null for client credentials. In that case, `authorization` is also null. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
      readonly scopes: readonly string[];
    }
  /**
   * An authorization code or refresh token was used a second time, so an attacker may have it. All
   * tokens of the authorization are now revoked.
   */
  | (AuditedAuthorization & { readonly type: 'code_replayed' })
  | (AuditedAuthorization & { readonly type: 'refresh_token_replayed' })
  /**
   * A refresh token was used a second time within `refresh_retry_seconds`, and got the same
   * response again.
   */
  | (AuditedAuthorization & { readonly type: 'refresh_token_retried' })
  | (AuditedAuthorization &
      Acting & {
        readonly type: 'family_revoked';
        /**
         * Who revoked it: a detected replay, the client (RFC 7009), the person, or an
         * administrator. `session` means that the person's session ended.
         */
        readonly reason: 'replay' | 'client' | 'person' | 'operator' | 'session';
      })
  /**
   * A client revoked one of its valid access tokens and nothing else (RFC 7009). The event does not
   * identify the token.
   */
  | {
      readonly type: 'access_token_revoked';
      readonly clientId: string;
      /** Null for a client-credentials token. In that case, `authorization` is also null. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
    }
  /**
   * A client asked to sign a person out, and the host has ended the person's session. There is no
   * event if the host has its own page for this.
   */
  | {
      readonly type: 'signed_out';
      /** The client that asked. Null if the client is unknown. */
      readonly clientId: string | null;
      readonly person: PersonReference;
      /**
       * Whether the person confirmed the sign-out. If not, the client proved with an ID token that
       * it may sign the person out.
       */
      readonly confirmed: boolean;
    }
  /**
   * An administrator revoked all of a person's authorizations. There is one event for all of them.
   */
  | (Acting & {
      readonly type: 'person_revoked';
      readonly person: PersonReference;
      /** The number of revoked authorizations. */
      readonly authorizations: number;
    })
  /**
   * An administrator erased a person. This removes the person's authorizations, their subject, and
   * their identity in the stored audit.
   */
  | (Acting & {
      readonly type: 'person_erased';
      /** The pseudonym that replaces the person. */
      readonly person: PersonReference;
      /** The number of erased authorizations. */
      readonly authorizations: number;
    })
  /**
   * An administrator ended all access after the database was restored from a backup. There is one
   * event for all of it.
   */
  | (Acting & {
      readonly type: 'access_ended';
      /**
       * The numbers of ended authorizations, ended tokens of clients themselves, ended waiting
       * requests, and ended initial access tokens.
       */
      readonly authorizations: number;
      readonly clientTokens: number;
      readonly requests: number;
      readonly initialAccessTokens: number;
    })
  /**
   * An administrator imported the subject identifiers of people (`oauth:subject:import`). There is
   * one event for all of them.
   */
  | (Acting & {
      readonly type: 'subjects_imported';
      /** The number of people who got a subject. */
      readonly subjects: number;
    })
  /**
   * An administrator linked an account to the subject of an organization, or removed the link. The
   * event does not contain the subject, because the server could not remove the subject from it
   * when the person is erased.
   */
  | (Acting & {
      readonly type: 'subject_linked' | 'subject_unlinked';
      readonly person: PersonReference;
      /** The issuer of the organization. */
      readonly issuer: string;
      /** The tenant of the issuer. Null if it has none. */
      readonly tenant: string | null;
    })
  /** An administrator allowed organizations to give access again that was ended. */
  | (Acting & {
      readonly type: 'access_allowed';
      readonly person: PersonReference;
      /**
       * The client whose access was allowed again. Null for all clients, except those whose access
       * was also ended individually.
       */
      readonly clientId: string | null;
    })
  /**
   * A client was registered. For a document client, this means that a person saw its first request.
   */
  | (AuditedClient & Acting & { readonly type: 'client_registered' })
  /** A client that registered itself changed its registration (RFC 7592). */
  | (AuditedClient & { readonly type: 'client_changed' })
  /** An administrator changed a client's registration. */
  | (AuditedClient &
      Acting & {
        readonly type: 'client_updated';
        /**
         * The changed fields, such as `redirect_uris`, with their values before and after. For
         * keys, this contains only their ids.
         */
        readonly changes: Readonly<
          Record<string, { readonly before: unknown; readonly after: unknown }>
        >;
      })
  /**
   * A client was revoked. For a document client, this means that its URL is blocked, even if no
   * person has used the client here.
   */
  | (AuditedClient & Acting & { readonly type: 'client_revoked' })
  /** A document client's URL was unblocked. Its earlier authorizations and tokens stay ended. */
  | (AuditedClient & Acting & { readonly type: 'client_unblocked' })
  | (Acting & {
      readonly type: 'secret_rotated';
      readonly clientId: string;
      /**
       * When the server stops accepting the previous secret, in milliseconds since 1970. Null if it
       * stopped immediately.
       */
      readonly previousExpiresAt: number | null;
    })
  /**
   * An initial access token was created or revoked. The event contains the token's id, which grants
   * no access.
   */
  | (Acting & {
      readonly type: 'initial_access_token_created' | 'initial_access_token_revoked';
      readonly initialAccessTokenId: string;
    })
  /**
   * A signing key changed:
   *
   * - `created`: a new key signs immediately.
   * - `staged`: a new key is published and signs later.
   * - `removed`: a key is no longer published.
   *
   * A key is either created or staged, never both.
   */
  | (Acting & {
      readonly type: 'signing_key_created' | 'signing_key_staged' | 'signing_key_removed';
      readonly kid: string;
      readonly algorithm: string;
    })
  /**
   * The server refused a signed-in person an administrator's page or form. For each person and
   * reason, there is at most one event per minute.
   */
  | {
      readonly type: 'admin_refused';
      readonly person: PersonReference;
      /** The route's name. */
      readonly route: string;
      /**
       * Why the person was refused:
       *
       * - `permission`: the person does not have the permission.
       * - `origin`: the form came from another origin.
       * - `form`: the form belongs to another person, or is no longer valid.
       */
      readonly reason: 'permission' | 'origin' | 'form';
      /**
       * The number of refusals for this person and reason since the last event, including this one.
       */
      readonly refusals: number;
    }
  /**
   * A tool of the MCP endpoint was called. Recorded only with `mcp:audit`. The event contains
   * neither the arguments nor the result.
   */
  | {
      readonly type: 'tool_called';
      readonly tool: string;
      readonly clientId: string;
      /** The person for whom the client called the tool. Null for a service. */
      readonly person: PersonReference | null;
      /**
       * `asked` means that the tool asks a question first. The client then calls it again with the
       * answers.
       */
      readonly outcome: 'succeeded' | 'failed' | 'asked';
      /** In milliseconds. */
      readonly duration: number;
    }
  /**
   * A resource of the MCP endpoint was read. Recorded only with `mcp:audit`. The event does not
   * contain the resource's content.
   */
  | {
      readonly type: 'resource_read';
      /** The resource's URI. */
      readonly resource: string;
      readonly clientId: string;
      /** The person for whom the client read the resource. Null for a service. */
      readonly person: PersonReference | null;
      readonly outcome: 'succeeded' | 'failed';
      /** In milliseconds. */
      readonly duration: number;
    }
  /** A client secret was wrong. */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_failed' })
  /**
   * After many wrong secrets, an attempt got a 429 response for the first time. Further 429
   * responses cause no events until a quarter of an hour has passed without a failure.
   */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_slowed' })
  /**
   * A sign-in on the kit's page failed, because the password was wrong or no account has the name.
   * `sign_in_slowed` means that the first attempt in a series got a 429 response. These events are
   * stored and streamed. They are not emitted as AuditEvents, because the kit emits events with the
   * same names.
   */
  | (AuditedSignIn & { readonly type: 'sign_in_failed' | 'sign_in_slowed' });

/** A failed sign-in. It never contains the text that the person typed. */
export interface AuditedSignIn {
  /**
   * The account with the typed name. Null if no account has the name, or if the provider does not
   * reveal the account.
   */
  readonly person: PersonReference | null;
  /** The client address. Null if the host does not know it. */
  readonly address: string | null;
  /** The request id in the response. Null if there is no request. */
  readonly requestId: string | null;
}

/** The client that an event is about, and who registered it. */
export interface AuditedClient {
  /** The client id. For a document client, its URL. */
  readonly clientId: string;
  /**
   * Who registered the client: an operator, the client itself, or the document whose URL is the
   * client's id.
   */
  readonly registeredBy: 'operator' | 'registration' | 'document';
}

/** A client's failed attempt to authenticate. */
export interface FailedClientAuthentication {
  /**
   * The client's id. Null if the sent id is unknown, because the sent text may be anything, even a
   * secret.
   */
  readonly clientId: string | null;
  /** The client address. Null if the host does not know it. */
  readonly address: string | null;
}

/**
 * Passes an event to the host. Never rejects. The change has already happened, so the server only
 * logs a failure to record it.
 */
export type Audit = (event: AuditEvent) => Promise<void>;

/**
 * Returns an Audit that passes events to `taken`. If `taken` fails, the Audit only logs the
 * failure, because the change has already happened.
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

/**
 * Returns the acting administrator, for an event. The object is empty if no administrator is given.
 */
export function actedBy({ by }: Acting = {}): Acting {
  return by === undefined ? {} : { by };
}
