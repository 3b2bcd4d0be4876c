import type { Log } from '@portico/sql';
import type { PersonReference } from '../person.ts';

/**
 * The name of the host kit's audit events: `application.events.on(AUDIT, (event) => …)`. Each is an
 * AuditEvent.
 */
export const AUDIT = 'oauth_server.audit';

/**
 * The administrator who acts: `console` for console commands, or the person who is signed in on an
 * administrator's page. The code that handles the request sets this value. It never comes from the
 * request itself.
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
 * An event for a host's audit log. The host receives it after the change is durable and before the
 * response is sent. Events never contain a secret, a token or a code.
 */
export type AuditEvent =
  | (AuditedAuthorization & {
      readonly type: 'consent_granted';
      readonly scopes: readonly string[];
      readonly audience: string | null;
      /**
       * The id of the earlier authorization whose consent was reused. Missing if the person
       * answered on the consent page.
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
   * of the authorization's tokens are now revoked.
   */
  | (AuditedAuthorization & { readonly type: 'code_replayed' })
  | (AuditedAuthorization & { readonly type: 'refresh_token_replayed' })
  /**
   * A refresh token was used a second time within `refresh_retry_seconds`, and the response was
   * repeated.
   */
  | (AuditedAuthorization & { readonly type: 'refresh_token_retried' })
  | (AuditedAuthorization &
      Acting & {
        readonly type: 'family_revoked';
        /**
         * Why the authorization was revoked: by a detected replay, by the client (RFC 7009), by the
         * person, or by an administrator (`operator`). `session` means that the person's session
         * ended.
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
   * A client asked to sign a person out, and the host ended the person's session. There is no such
   * event if the host has its own sign-out page.
   */
  | {
      readonly type: 'signed_out';
      /** The client that asked. Null if unknown. */
      readonly clientId: string | null;
      readonly person: PersonReference;
      /**
       * Whether the person confirmed the sign-out. Otherwise, the client proved with an ID token
       * that it may sign the person out.
       */
      readonly confirmed: boolean;
    }
  /** An administrator revoked all of a person's authorizations. One event covers all of them. */
  | (Acting & {
      readonly type: 'person_revoked';
      readonly person: PersonReference;
      /** The number of revoked authorizations. */
      readonly authorizations: number;
    })
  /**
   * An administrator erased a person. This removes the person's authorizations, subject identifier,
   * and identity in the stored audit log.
   */
  | (Acting & {
      readonly type: 'person_erased';
      /** The pseudonym that replaces the person. */
      readonly person: PersonReference;
      /** The number of erased authorizations. */
      readonly authorizations: number;
    })
  /**
   * An administrator ended all access after the database was restored from a backup. One event
   * covers everything.
   */
  | (Acting & {
      readonly type: 'access_ended';
      /**
       * The number of authorizations that ended. The other properties count the other ended access:
       * tokens that clients got for themselves, waiting requests, and initial access tokens.
       */
      readonly authorizations: number;
      readonly clientTokens: number;
      readonly requests: number;
      readonly initialAccessTokens: number;
    })
  /**
   * An administrator imported people's subject identifiers (`oauth:subject:import`). One event
   * covers all of them.
   */
  | (Acting & {
      readonly type: 'subjects_imported';
      /** The number of people who were assigned a subject identifier. */
      readonly subjects: number;
    })
  /**
   * An administrator linked an account to a subject identifier at an organization, or removed the
   * link. The event does not contain the subject identifier, because the server could not remove it
   * from the event if the person were erased later.
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
   * An administrator lets organizations give access again, after an administrator had ended that
   * access.
   */
  | (Acting & {
      readonly type: 'access_allowed';
      readonly person: PersonReference;
      /**
       * The client whose access was allowed again. Null if access was allowed again for all
       * clients, except for clients whose access was also ended individually.
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
   * A client was revoked. If it is a document client, its URL is blocked, even if no person has
   * used the client on this server.
   */
  | (AuditedClient & Acting & { readonly type: 'client_revoked' })
  /**
   * A document client's URL was unblocked. The client's earlier authorizations and tokens stay
   * ended.
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
   * A new key is either created or staged, so it causes only one of these two events.
   */
  | (Acting & {
      readonly type: 'signing_key_created' | 'signing_key_staged' | 'signing_key_removed';
      readonly kid: string;
      readonly algorithm: string;
    })
  /**
   * A signed-in person was refused access to an administrator's page or form. There is at most one
   * event per minute for each person and reason.
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
       * The number of times that this person was refused for this reason since the last event,
       * including this time.
       */
      readonly refusals: number;
    }
  /**
   * A tool of the MCP endpoint was called. Recorded only with `mcp:audit`. Contains neither the
   * arguments nor the result.
   */
  | {
      readonly type: 'tool_called';
      readonly tool: string;
      readonly clientId: string;
      /** The person on whose behalf the client called the tool. Null for a service. */
      readonly person: PersonReference | null;
      /**
       * `asked` means that the tool asks a question first. The client calls the tool again with the
       * answers.
       */
      readonly outcome: 'succeeded' | 'failed' | 'asked';
      /** The duration, in milliseconds. */
      readonly duration: number;
    }
  /**
   * A resource of the MCP endpoint was read. Recorded only with `mcp:audit`. Does not contain the
   * resource's content.
   */
  | {
      readonly type: 'resource_read';
      /** The resource's URI. */
      readonly resource: string;
      readonly clientId: string;
      /** The person on whose behalf the client read the resource. Null for a service. */
      readonly person: PersonReference | null;
      readonly outcome: 'succeeded' | 'failed';
      /** The duration, in milliseconds. */
      readonly duration: number;
    }
  /** A client secret was wrong. */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_failed' })
  /**
   * After many wrong secrets, an attempt got a 429 response for the first time. Further 429
   * responses cause no events until no attempt has failed for 15 minutes.
   */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_slowed' })
  /**
   * A sign-in on the kit's page failed: the password was wrong, or no account has the name.
   * `sign_in_slowed` means that the first attempt in a series got a 429 response. These events are
   * stored and streamed, but not emitted as AuditEvents, because the kit emits events with the same
   * names.
   */
  | (AuditedSignIn & { readonly type: 'sign_in_failed' | 'sign_in_slowed' });

/** A failed sign-in. Never contains what the person typed. */
export interface AuditedSignIn {
  /**
   * The account with the typed name. Null if no account has the name, or if the provider does not
   * reveal it.
   */
  readonly person: PersonReference | null;
  /** The IP address that the attempt came from. Null if the host does not know it. */
  readonly address: string | null;
  /** The request id in the response, or null. */
  readonly requestId: string | null;
}

/** The client that an event is about, and who registered it. */
export interface AuditedClient {
  /** The client id. It is the URL of a document client. */
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
   * The client's id. Null if the client sent an unknown id, because an unknown id could be any
   * text, even a secret.
   */
  readonly clientId: string | null;
  /** The IP address that the attempt came from. Null if the host does not know it. */
  readonly address: string | null;
}

/**
 * Passes an event to the host. Never rejects. The change that the event reports has already
 * happened, so a failure is only logged.
 */
export type Audit = (event: AuditEvent) => Promise<void>;

/**
 * Returns an Audit that passes events to `taken`. If `taken` fails, the failure is only logged,
 * because the change that the event reports has already happened.
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
