import type { Log } from '@portico/sql';
import type { PersonReference } from '../contracts/person.ts';

/**
 * The host kit emits every AuditEvent under this name:
 * `application.events.on(AUDIT, (event) => …)`.
 */
export const AUDIT = 'oauth_server.audit';

/**
 * Who acts for the server's operator: a user of its console, or the person who is signed in on an
 * administrator's page. The code that handles the request sets this, never the request itself.
 */
export type Administrator = 'console' | PersonReference;

/** Options of an administrator's action, beside its arguments. */
export interface Acting {
  /** Who does it. Absent when the application's own code does. */
  readonly by?: Administrator;
}

/** The authorization that an event is about. */
export interface AuditedAuthorization {
  /** The family's id. It grants no access. */
  readonly authorization: string;
  /** The application that has the authorization. */
  readonly clientId: string;
  /** The person who gave it. */
  readonly person: PersonReference;
}

/**
 * What happened, for a host's audit log. The host receives it when it is durable, and before the
 * request is answered. An event never contains a secret, a token or a code.
 */
export type AuditEvent =
  | (AuditedAuthorization & {
      readonly type: 'consent_granted';
      readonly scopes: readonly string[];
      readonly audience: string | null;
    })
  | { readonly type: 'consent_denied'; readonly clientId: string; readonly person: PersonReference }
  | {
      readonly type: 'tokens_issued';
      /** The value of `grant_type`: one of RFC 6749, or of a feature. */
      readonly grantType: string;
      readonly clientId: string;
      /** Null for client credentials, as is the authorization. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
      readonly scopes: readonly string[];
    }
  /**
   * A code or refresh token was used a second time, so someone else may have it. Its family is
   * revoked.
   */
  | (AuditedAuthorization & { readonly type: 'code_replayed' })
  | (AuditedAuthorization & { readonly type: 'refresh_token_replayed' })
  /**
   * A refresh token was used a second time within `refresh_retry_seconds`, and got the answer of
   * the first use again.
   */
  | (AuditedAuthorization & { readonly type: 'refresh_token_retried' })
  | (AuditedAuthorization &
      Acting & {
        readonly type: 'family_revoked';
        /** By a replay, by the application (RFC 7009), by the person, or by an administrator. */
        readonly reason: 'replay' | 'client' | 'person' | 'operator';
      })
  /**
   * The application ended one of its living access tokens, and nothing else (RFC 7009). The event
   * does not say which one.
   */
  | {
      readonly type: 'access_token_revoked';
      readonly clientId: string;
      /** Null for a client-credentials token, as is the authorization. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
    }
  /**
   * An administrator ended everything that a person had allowed. One event for all authorizations.
   */
  | (Acting & {
      readonly type: 'person_revoked';
      readonly person: PersonReference;
      /** How many authorizations ended. */
      readonly authorizations: number;
    })
  /**
   * An administrator erased a person: what they had allowed, their subject, and their identity in
   * the stored audit.
   */
  | (Acting & {
      readonly type: 'person_erased';
      /** The pseudonym that replaces the person. */
      readonly person: PersonReference;
      /** How many authorizations were erased. */
      readonly authorizations: number;
    })
  /**
   * An administrator ended all access of everyone, after the database was restored from a backup.
   * One event for all.
   */
  | (Acting & {
      readonly type: 'access_ended';
      /**
       * How many of each kind ended: authorizations, tokens of clients themselves, waiting
       * requests, and initial access tokens.
       */
      readonly authorizations: number;
      readonly clientTokens: number;
      readonly requests: number;
      readonly initialAccessTokens: number;
    })
  /**
   * An administrator imported the identifiers by which clients know people
   * (`oauth:subject:import`). One event for all.
   */
  | (Acting & {
      readonly type: 'subjects_imported';
      /** How many people were given one. */
      readonly subjects: number;
    })
  /** For a document: when a person is first shown its request. */
  | (AuditedClient & Acting & { readonly type: 'client_registered' })
  /** A client that registered itself changed its registration (RFC 7592). */
  | (AuditedClient & { readonly type: 'client_changed' })
  /** An administrator changed a client's registration. */
  | (AuditedClient &
      Acting & {
        readonly type: 'client_updated';
        /**
         * The changed fields, such as `redirect_uris`, before and after. For keys only their ids.
         */
        readonly changes: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
      })
  /** For a document: its URL is blocked, even if no one has used it here. */
  | (AuditedClient & Acting & { readonly type: 'client_revoked' })
  /** A document's URL is unblocked. Nothing that it was given before becomes valid again. */
  | (AuditedClient & Acting & { readonly type: 'client_unblocked' })
  | (Acting & {
      readonly type: 'secret_rotated';
      readonly clientId: string;
      /**
       * How long the previous secret is accepted, in milliseconds since 1970. Null when it has
       * ended.
       */
      readonly previousExpiresAt: number | null;
    })
  /**
   * A token with which clients register themselves was created or ended. It is named by its id,
   * which grants no access.
   */
  | (Acting & {
      readonly type: 'initial_access_token_created' | 'initial_access_token_revoked';
      readonly initialAccessTokenId: string;
    })
  /**
   * A key was made that signs at once (created), or that is published now and signs later (staged),
   * or a key is no longer published (removed). A key is either created or staged, never both.
   */
  | (Acting & {
      readonly type: 'signing_key_created' | 'signing_key_staged' | 'signing_key_removed';
      readonly kid: string;
      readonly algorithm: string;
    })
  /**
   * A signed-in person requested an administrator's page or sent one of its forms, and was refused.
   * At most one event per minute for each person and reason.
   */
  | {
      readonly type: 'admin_refused';
      readonly person: PersonReference;
      /** The name of the route. */
      readonly route: string;
      /**
       * Without the permission; from another origin; or with a form that is not theirs or no longer
       * valid.
       */
      readonly reason: 'permission' | 'origin' | 'form';
      /**
       * How many refusals it covers: this one, and those of this person for this reason since the
       * last event.
       */
      readonly refusals: number;
    }
  /**
   * A tool of the MCP endpoint was called, with `mcp:audit`. The event contains neither its
   * arguments nor its result.
   */
  | {
      readonly type: 'tool_called';
      readonly tool: string;
      readonly clientId: string;
      /** Null for a service. */
      readonly person: PersonReference | null;
      /** `asked`: it asks a question first, and is called again with the answers. */
      readonly outcome: 'succeeded' | 'failed' | 'asked';
      /** In milliseconds. */
      readonly duration: number;
    }
  /** A resource of the MCP endpoint was read, with `mcp:audit`. The event has no content. */
  | {
      readonly type: 'resource_read';
      /** Its URI. */
      readonly resource: string;
      readonly clientId: string;
      /** Null for a service. */
      readonly person: PersonReference | null;
      readonly outcome: 'succeeded' | 'failed';
      /** In milliseconds. */
      readonly duration: number;
    }
  /** A client secret was wrong. */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_failed' })
  /**
   * The first attempt that was answered 429, after many wrong secrets. Later ones are not events
   * until there was no failure for a quarter of an hour.
   */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_slowed' })
  /**
   * At the kit's sign-in: a password was wrong, or no account has the name; or the first attempt of
   * a series was answered 429. These are stored and streamed but not emitted, because the kit emits
   * events with the same names.
   */
  | (AuditedSignIn & { readonly type: 'sign_in_failed' | 'sign_in_slowed' });

/** A failed sign-in. It never contains what was typed. */
export interface AuditedSignIn {
  /**
   * The account that was named. Null when no account has the name, or its provider does not tell.
   */
  readonly person: PersonReference | null;
  /** The client address, if the host knows it. */
  readonly address: string | null;
  /** The request id in the response. */
  readonly requestId: string | null;
}

/** The client that an event is about, and who registered it. */
export interface AuditedClient {
  /** The client id. For a document, its URL. */
  readonly clientId: string;
  /** An operator, the client itself, or the document whose URL is its id. */
  readonly registeredBy: 'operator' | 'registration' | 'document';
}

/** A client's failed attempt to authenticate. */
export interface FailedClientAuthentication {
  /** Null when no client has the id that was sent, because that may be anything, even a secret. */
  readonly clientId: string | null;
  /** The client address, if the host knows it. */
  readonly address: string | null;
}

/**
 * Passes an event to the host. Never rejects: the event has already happened, so a failure to
 * record it is only logged.
 */
export type Audit = (event: AuditEvent) => Promise<void>;

/** Hands events over, and only logs a failure: what happened has already happened. */
export function takenBy(taken: Audit, log: Log): Audit {
  return async (event) => {
    try {
      await taken(event);
    } catch (exception) {
      log.error('The audit event {type} was not taken: {exception}', { type: event.type, exception });
    }
  };
}

/** Who acted, for an event. Empty if unknown. */
export function actedBy({ by }: Acting = {}): Acting {
  return by === undefined ? {} : { by };
}
