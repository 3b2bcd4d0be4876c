import type { Log } from '@portico/sql';
import type { PersonReference } from '../contracts/person.ts';

/** The name under which the host kit emits every AuditEvent: `application.events.on(AUDIT, (event) => …)`. */
export const AUDIT = 'oauth_server.audit';

/**
 * Who acts for whoever runs the server: somebody at its console, or the person who is signed in on an administrator's page. Such an
 * action is given it by whoever translates the request, never by the request itself.
 */
export type Administrator = 'console' | PersonReference;

/** What an action of an administrator is given beside its arguments. */
export interface Acting {
  /** Who does it; not said when the application's own code does. */
  readonly by?: Administrator;
}

/** Which authorization an event is about. */
export interface AuditedAuthorization {
  /** The family's id: an identifier, good for nothing by itself. */
  readonly authorization: string;
  /** The application that holds the authorization. */
  readonly clientId: string;
  /** Who gave it. */
  readonly person: PersonReference;
}

/**
 * What happened, for a host's audit log. The host gets it when it is durable, and before the request is answered. No event
 * holds a secret, a token or a code.
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
      readonly grantType: 'authorization_code' | 'refresh_token' | 'client_credentials';
      readonly clientId: string;
      /** Null for client credentials, with the authorization. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
      readonly scopes: readonly string[];
    }
  /** A code or refresh token was used a second time: somebody else may have it. Its family is revoked. */
  | (AuditedAuthorization & { readonly type: 'code_replayed' })
  | (AuditedAuthorization & { readonly type: 'refresh_token_replayed' })
  /** A refresh token was used a second time within `refresh_retry_seconds`, and was given the answer of the first use again. */
  | (AuditedAuthorization & { readonly type: 'refresh_token_retried' })
  | (AuditedAuthorization &
      Acting & {
        readonly type: 'family_revoked';
        /** By a replay, by the application (RFC 7009), by the person, or by an administrator. */
        readonly reason: 'replay' | 'client' | 'person' | 'operator';
      })
  /** The application ended one of its access tokens, which had neither expired nor ended, and nothing else (RFC 7009). Which one is not said. */
  | {
      readonly type: 'access_token_revoked';
      readonly clientId: string;
      /** Null for a token of client credentials, with the authorization. */
      readonly person: PersonReference | null;
      readonly authorization: string | null;
    }
  /** An administrator ended all that a person had allowed. One event for all, none for each authorization. */
  | (Acting & {
      readonly type: 'person_revoked';
      readonly person: PersonReference;
      /** How many authorizations ended. */
      readonly authorizations: number;
    })
  /** An administrator had a person forgotten: what they had allowed, their subject, and who they are in the kept audit. */
  | (Acting & {
      readonly type: 'person_erased';
      /** No longer the person: the pseudonym that stands in their place. */
      readonly person: PersonReference;
      /** How many authorizations were erased. */
      readonly authorizations: number;
    })
  /** An administrator ended all that there was, of everybody, since the database was restored from a backup. One event for all. */
  | (Acting & {
      readonly type: 'access_ended';
      /** How many of each kind ended: authorizations, tokens of clients themselves, requests that waited for an answer, initial access tokens. */
      readonly authorizations: number;
      readonly clientTokens: number;
      readonly requests: number;
      readonly initialAccessTokens: number;
    })
  /** An administrator said what clients know people by (`oauth:subject:import`). One event for all. */
  | (Acting & {
      readonly type: 'subjects_imported';
      /** How many people were given one. */
      readonly subjects: number;
    })
  /** With a document, when somebody is first shown what it asks for. */
  | (AuditedClient & Acting & { readonly type: 'client_registered' })
  /** A client that registered itself says something else about itself (RFC 7592). */
  | (AuditedClient & { readonly type: 'client_changed' })
  /** An administrator changed what is kept of a client. */
  | (AuditedClient &
      Acting & {
        readonly type: 'client_updated';
        /** The fields that are other ones now, such as `redirect_uris`, each as it was and as it is. Of keys only their ids. */
        readonly changes: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
      })
  /** Of a document its URL is blocked, also one that nobody has used here. */
  | (AuditedClient & Acting & { readonly type: 'client_revoked' })
  /** The URL of a document may be a client again; nothing that it was given before lives again. */
  | (AuditedClient & Acting & { readonly type: 'client_unblocked' })
  | (Acting & {
      readonly type: 'secret_rotated';
      readonly clientId: string;
      /** Until when the secret before is accepted, milliseconds since 1970; null when it has ended. */
      readonly previousExpiresAt: number | null;
    })
  /** A token with which clients register themselves was made, or ended; which one its id says, which opens nothing. */
  | (Acting & {
      readonly type: 'initial_access_token_created' | 'initial_access_token_revoked';
      readonly initialAccessTokenId: string;
    })
  /**
   * A key was made that signs at once; one was made that is published now, and signs later; one is published no more. A key is either
   * created or staged, never both.
   */
  | (Acting & {
      readonly type: 'signing_key_created' | 'signing_key_staged' | 'signing_key_removed';
      readonly kid: string;
      readonly algorithm: string;
    })
  /**
   * Somebody who is signed in asked for an administrator's page, or sent one of its forms, and was refused. At most one event in a minute
   * for each person and reason.
   */
  | {
      readonly type: 'admin_refused';
      readonly person: PersonReference;
      /** The name of the route. */
      readonly route: string;
      /** Without the permission; from another origin; or with a form that is not theirs, or not valid any more. */
      readonly reason: 'permission' | 'origin' | 'form';
      /** How many refusals it stands for: this one, and those of this person for this reason since the event before. */
      readonly refusals: number;
    }
  /** A tool of the MCP endpoint was called, with `mcp:audit`. What it was given and what it answered is not said. */
  | {
      readonly type: 'tool_called';
      readonly tool: string;
      readonly clientId: string;
      /** Null for a service. */
      readonly person: PersonReference | null;
      /** `asked`: it asks something first, and is called again with the answers. */
      readonly outcome: 'succeeded' | 'failed' | 'asked';
      /** In milliseconds. */
      readonly duration: number;
    }
  /** A client secret was wrong. */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_failed' })
  /**
   * The first attempt that was answered 429, after many wrong secrets. Those that follow are no events until there was no
   * failure for a quarter of an hour.
   */
  | (FailedClientAuthentication & { readonly type: 'client_authentication_slowed' })
  /**
   * At the kit's sign-in: a password was wrong, or no account has the name; or the first attempt of a series was answered 429. They are kept
   * and streamed, and not emitted: the kit emits events of the same names.
   */
  | (AuditedSignIn & { readonly type: 'sign_in_failed' | 'sign_in_slowed' });

/** A sign-in that failed. What was typed is never in it. */
export interface AuditedSignIn {
  /** Whose account was named; null when no account has the name, or its provider does not say. */
  readonly person: PersonReference | null;
  /** Where the request came from, as far as the host knows. */
  readonly address: string | null;
  /** Of the answer. */
  readonly requestId: string | null;
}

/** Which client an event is about, and who said what it is. */
export interface AuditedClient {
  /** Of a document its URL. */
  readonly clientId: string;
  /** An operator, the client itself, or the document that its id is the URL of. */
  readonly registeredBy: 'operator' | 'registration' | 'document';
}

/** A refused attempt of a client to authenticate. */
export interface FailedClientAuthentication {
  /** Null when no client has the id that was sent: what was sent may be anything, a secret too. */
  readonly clientId: string | null;
  /** Where the request came from, as far as the host knows. */
  readonly address: string | null;
}

/** Hands an event to the host. Never rejects: the event has happened already, so a failure to record it is only logged. */
export type Audit = (event: AuditEvent) => Promise<void>;

/** Tells the host, and records the event where that is switched on, both at once. */
export function createAudit(
  host: { readonly audit: Audit; readonly log: Log },
  recordEvent: Audit | null = null,
): Audit {
  async function handTo(taken: Audit, event: AuditEvent): Promise<void> {
    try {
      await taken(event);
    } catch (exception) {
      host.log.error('The audit event {type} was not taken: {exception}', { type: event.type, exception });
    }
  }
  if (recordEvent === null) return (event) => handTo(host.audit, event);
  return async (event) => {
    await Promise.all([handTo(recordEvent, event), handTo(host.audit, event)]);
  };
}

/** What an event says of who did it: nothing where nobody is named. */
export function actedBy({ by }: Acting = {}): Acting {
  return by === undefined ? {} : { by };
}
