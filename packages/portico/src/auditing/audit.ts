import type { Log } from '@portico/sql';
import type { PersonReference } from '../person.ts';

/**
 * The name of the host kit's audit events: `application.events.on(AUDIT, (event) => …)`. Each event
 * is an AuditEvent.
 */
export const AUDIT = 'oauth_server.audit';

/**
 * The administrator who acts: `console` for console commands, or the person who is signed in on an
 * administrator's page. Portico's own code sets this value, never a parameter of the request.
 */
export type Administrator = 'console' | PersonReference;

/** Options that every administrative action accepts. */
export interface Acting {
  /** The administrator who acts. Missing if your application's own code acts. */
  readonly by?: Administrator;
}

/** The authorization that an event is about. */
export interface AuditedAuthorization {
  /** The authorization's id. It grants no access. */
  readonly authorization: string;
  /** The client that has access. */
  readonly clientId: string;
  /** The person who gave the access. */
  readonly person: PersonReference;
}

/**
 * An event for a host's audit log. The host receives the event after the change is durable and
 * before the response is sent. Events never contain a secret, a token or a code.
 */
export type AuditEvent =
  | (AuditedAuthorization & {
      readonly type: 'consent_granted';
      readonly scopes: readonly string[];
      readonly audience: string | null;
      /**
       * The id of the earlier authorization that contains the person's consent. Missing if the
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
      /** Null for client credentials. `authorization` is then also null. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
      readonly scopes: readonly string[];
    }
  /**
   * An authorization code or refresh token was used a second time, so an attacker may have it. The
   * authorization's tokens are now all revoked.
   */
  | (AuditedAuthorization & { readonly type: 'code_replayed' })
  | (AuditedAuthorization & { readonly type: 'refresh_token_replayed' })
  /**
   * A refresh token was used a second time within `refresh_retry_seconds`. The server repeated its
   * first response.
   */
  | (AuditedAuthorization & { readonly type: 'refresh_token_retried' })
  | (AuditedAuthorization &
      Acting & {
        readonly type: 'family_revoked';
        /**
         * Why the authorization was revoked: because of a replay, by the client (RFC 7009), by the
         * person, or by an administrator (`operator`). `session` means that the person's session
         * ended.
         */
        readonly reason: 'replay' | 'client' | 'person' | 'operator' | 'session';
      })
  /**
   * A client revoked one of its valid access tokens, and nothing else (RFC 7009). The event does
   * not identify the token.
   */
  | {
      readonly type: 'access_token_revoked';
      readonly clientId: string;
      /** Null for a client-credentials token. `authorization` is then also null. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
    }
  /**
   * A client asked to sign a person out, and the host ended the person's session. If the host has
   * its own sign-out page, this event is not recorded.
   */
  | {
      readonly type: 'signed_out';
      /** The client that asked to sign the person out. Null if unknown. */
      readonly clientId: string | null;
      readonly person: PersonReference;
      /**
       * Whether the person confirmed the sign-out. If false, the client sent an ID token as proof
       * that it may sign the person out.
       */
      readonly confirmed: boolean;
    }
  /**
   * An administrator revoked all of a person's authorizations. This is one event for all of them.
   */
  | (Acting & {
      readonly type: 'person_revoked';
      readonly person: PersonReference;
      /** The number of revoked authorizations. */
      readonly authorizations: number;
    })
  /**
   * An administrator erased a person: the person's authorizations, subject identifier, and identity
   * in the stored audit log were removed.
   */
  | (Acting & {
      readonly type: 'person_erased';
      /** The pseudonym that replaces the person in stored events. */
      readonly person: PersonReference;
      /** The number of erased authorizations. */
      readonly authorizations: number;
    })
  /**
   * An administrator ended all access after a database backup was restored. This is one event for
   * all access.
   */
  | (Acting & {
      readonly type: 'access_ended';
      /**
       * The number of authorizations that ended. The other properties count tokens that clients
       * requested for themselves, waiting requests, and initial access tokens.
       */
      readonly authorizations: number;
      readonly clientTokens: number;
      readonly requests: number;
      readonly initialAccessTokens: number;
    })
  /**
   * An administrator imported people's subject identifiers (`oauth:subject:import`). This is one
   * event for all of them.
   */
  | (Acting & {
      readonly type: 'subjects_imported';
      /** The number of people who were assigned a subject identifier. */
      readonly subjects: number;
    })
  /**
   * An administrator linked an account to a subject identifier at an organization, or removed the
   * link. The event does not contain the subject identifier. If it did, the server could not remove
   * the identifier when an administrator erases the person.
   */
  | (Acting & {
      readonly type: 'subject_linked' | 'subject_unlinked';
      readonly person: PersonReference;
      /** The organization's issuer. */
      readonly issuer: string;
      /** The issuer's tenant, or null. */
      readonly tenant: string | null;
    })
  /**
   * An administrator allowed organizations to give access again, after an administrator had ended
   * that access.
   */
  | (Acting & {
      readonly type: 'access_allowed';
      readonly person: PersonReference;
      /**
       * The client that organizations may give access again. Null if they may give access to all
       * clients again, except to clients whose access was also ended individually.
       */
      readonly clientId: string | null;
    })
  /**
   * A client was registered. For a document client, this means that a person saw the client's first
   * authorization request.
   */
  | (AuditedClient & Acting & { readonly type: 'client_registered' })
  /** A client that registered itself changed its registration (RFC 7592). */
  | (AuditedClient & { readonly type: 'client_changed' })
  /** An administrator changed a client's registration. */
  | (AuditedClient &
      Acting & {
        readonly type: 'client_updated';
        /**
         * The changed fields, for example `redirect_uris`, with their values before and after. Keys
         * appear only as their ids.
         */
        readonly changes: Readonly<
          Record<string, { readonly before: unknown; readonly after: unknown }>
        >;
      })
  /**
   * A client was revoked. For a document client, this blocks its URL, even if no person has used
   * the client on this server.
   */
  | (AuditedClient & Acting & { readonly type: 'client_revoked' })
  /**
   * A document client's URL was unblocked. The client's earlier authorizations and tokens are still
   * revoked.
   */
  | (AuditedClient & Acting & { readonly type: 'client_unblocked' })
  | (Acting & {
      readonly type: 'secret_rotated';
      readonly clientId: string;
      /**
       * When the previous secret stops working, in milliseconds since 1970. Null if the previous
       * secret has already stopped working.
       */
      readonly previousExpiresAt: number | null;
    })
  /**
   * An initial access token was created or revoked. The event contains its id, which grants no
   * access.
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
   * A new key causes either `created` or `staged`, never both.
   */
  | (Acting & {
      readonly type: 'signing_key_created' | 'signing_key_staged' | 'signing_key_removed';
      readonly kid: string;
      readonly algorithm: string;
    })
  /**
   * A signed-in person was refused access to an administrator's page or form. At most one such
   * event per minute is recorded for each person and reason.
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
       * How often this person was refused for this reason since the last event, including this
       * time.
       */
      readonly refusals: number;
    }
  /**
   * A client called a tool of the MCP endpoint. Recorded only with `mcp:audit`. Contains neither
   * the arguments nor the result.
   */
  | {
      readonly type: 'tool_called';
      readonly tool: string;
      readonly clientId: string;
      /**
       * The person for whom the client called the tool. Null if the client called it for itself.
       */
      readonly person: PersonReference | null;
      /**
       * `asked` means that the tool asks the user a question first. The client then calls the tool
       * again with the answers.
       */
      readonly outcome: 'succeeded' | 'failed' | 'asked';
      /** How long the call took, in milliseconds. */
      readonly duration: number;
    }
  /**
   * A client read a resource of the MCP endpoint. Recorded only with `mcp:audit`. Does not contain
   * the resource's content.
   */
  | {
      readonly type: 'resource_read';
      /** The resource's URI. */
      readonly resource: string;
      readonly clientId: string;
      /**
       * The person for whom the client read the resource. Null if the client read it for itself.
       */
      readonly person: PersonReference | null;
      readonly outcome: 'succeeded' | 'failed';
      /** How long the read took, in milliseconds. */
      readonly duration: number;
    }
  /** A client sent a wrong secret. */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_failed' })
  /**
   * After many wrong secrets, the server responded with 429 for the first time. Further 429
   * responses cause no events until no attempt has failed for 15 minutes.
   */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_slowed' })
  /**
   * A sign-in on the kit's page failed, because the password was wrong or no account has the name.
   * `sign_in_slowed`: an attempt in a series received a 429 response for the first time. These
   * events are stored and streamed. They are not emitted as AuditEvents, because the kit already
   * emits events with the same names.
   */
  | (AuditedSignIn & { readonly type: 'sign_in_failed' | 'sign_in_slowed' });

/** A failed sign-in. Never contains what the person typed. */
export interface AuditedSignIn {
  /**
   * The account with the typed name. Null if no account has the name, or if the provider does not
   * reveal it.
   */
  readonly person: PersonReference | null;
  /** The IP address of the person's browser. Null if the host does not know it. */
  readonly address: string | null;
  /** The request id in the response, or null. */
  readonly requestId: string | null;
}

/** The client that an event is about, and who registered it. */
export interface AuditedClient {
  /** The client id. It is the URL of a document client. */
  readonly clientId: string;
  /**
   * Who registered the client: an operator, the client itself, or the client's document (the URL of
   * the document is the client id).
   */
  readonly registeredBy: 'operator' | 'registration' | 'document';
}

/** A client's failed attempt to authenticate. */
export interface FailedClientAuthentication {
  /**
   * The client's id. Null if no client has the id that was sent, because that text could be
   * anything, even a secret.
   */
  readonly clientId: string | null;
  /** The IP address that the client sent the request from. Null if the host does not know it. */
  readonly address: string | null;
}

/**
 * Passes an event to the host. Never rejects. The change that the event reports has already
 * happened, so a failure is only logged.
 */
export type Audit = (event: AuditEvent) => Promise<void>;

/**
 * Returns an Audit that passes events to `taken`. If `taken` fails, only logs the failure, because
 * the change that the event reports has already happened.
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

/** Returns the acting administrator for an event. Empty if no administrator is given. */
export function actedBy({ by }: Acting = {}): Acting {
  return by === undefined ? {} : { by };
}
