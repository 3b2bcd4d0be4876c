import type { SqlConnection } from '@portico/sql';
import type { AllowedAuthorization } from '../../authorization/additions.ts';
import { notAnswerable } from '../../authorization/consent-errors.ts';
import type { CompleteHost } from '../../host/host.ts';
import type { NewMessage } from '../../outbox/message.ts';
import type { PersonReference } from '../../person.ts';
import type { Server } from '../../server.ts';
import { isSessionId, type AfterCommit, type EndedSessions } from '../../host/session-ends.ts';
import type { Batch } from '../../store/batches.ts';
import type { Details } from '../../store/grant.ts';
import { endFamilies } from './ended-families.ts';
import { words } from '../../store/sql/statements.ts';
import type { LogoutMessage } from './delivery.ts';
import { LOGOUT_URI } from './metadata.ts';
import { Sessions, type EndedClient } from './sessions.ts';

/** The kind of outbox message that this feature sends. */
export const LOGOUT = 'back_channel_logout';
/** How long the server tries to deliver a message, in milliseconds. */
const DAY = 86_400_000;
/** The details of an authorization contain the session data under this key. */
const KEPT_AS = 'session';

interface KeptSession {
  readonly sid: string;
}

/**
 * Records which clients a user has signed in to. When a session ends, notifies the clients that
 * have a logout URI. Their access ends too, unless they requested `offline_access`.
 */
export class SessionLogout {
  readonly #server: Server;
  readonly #sessionId: NonNullable<CompleteHost['sessionId']>;
  readonly #sessions: Sessions;

  constructor(server: Server, sessionId: NonNullable<CompleteHost['sessionId']>) {
    this.#server = server;
    this.#sessionId = sessionId;
    this.#sessions = new Sessions(server.database, server.config.code_ttl);
  }

  /**
   * Returns the details with the `sid`, for an authorization with ID tokens. Throws a page error if
   * the session has ended since the server read it from the host.
   */
  async details(allowed: AllowedAuthorization): Promise<Details | undefined> {
    const { id: familyId, clientId, person, subject, scopes, request, readAt, further } = allowed;
    if (!scopes.includes('openid')) return undefined;
    const session = await this.#sessionOf(request);
    if (session === null) return undefined;
    const keepsAccess = words(further['scope'] ?? '').includes('offline_access');
    const begun = { familyId, clientId, subject, keepsAccess };
    const now = this.#server.clock();
    const sid = await this.#sessions.begin({ session, person, readAt }, begun, now);
    if (sid === null) throw notAnswerable(SESSION_ENDED);
    return { [KEPT_AS]: { sid } satisfies KeptSession };
  }

  /**
   * Returns the `sid` of the browser's session for this client. Returns null without a session, or
   * if no authorization began in it.
   */
  async sid(request: Request, clientId: string): Promise<string | null> {
    const session = await this.#sessionOf(request);
    return session === null ? null : this.#sessions.sid(session, clientId);
  }

  /** Returns the host's id of the browser's session, or null. Throws if the id is not valid. */
  async #sessionOf(request: Request): Promise<string | null> {
    const session: unknown = await this.#sessionId(request);
    if (session === null || isSessionId(session)) return session;
    throw new Error('Host.sessionId must return a string or null');
  }

  /**
   * Creates the notifications and ends the clients' access, in the transaction that ends the
   * sessions. A client without a logout URI keeps its access, for example an assistant.
   */
  async end(connection: SqlConnection, ended: EndedSessions): Promise<AfterCommit> {
    const { outbox, clock, audit, database } = this.#server;
    const now = clock();
    const { clients, committed } = await this.#sessions.end(connection, ended, now);
    const hasUri = await this.#haveUris(connection, clients);
    const ending = clients.map((client) => ({
      ...client,
      keepsAccess: client.keepsAccess || !hasUri.has(client.clientId),
    }));
    const families = await endFamilies({ connection, database }, ending, KEPT_AS, now);
    const told = clients.filter(
      ({ clientId, familyId }) => hasUri.has(clientId) && !families.unused.has(familyId),
    );
    await outbox.add(connection, messagesFor(told, now));
    return async () => {
      outbox.wake();
      try {
        await committed(clock());
      } finally {
        for (const about of families.revoked)
          await audit({ type: 'family_revoked', ...about, reason: 'session' });
      }
    };
  }

  forget(person: PersonReference): Promise<boolean> {
    return this.#sessions.forget(person);
  }

  prune(limit: number): Promise<Batch> {
    return this.#sessions.prune(this.#server.clock(), limit);
  }

  async #haveUris(
    connection: SqlConnection,
    clients: readonly EndedClient[],
  ): Promise<ReadonlySet<string>> {
    const ids = [...new Set(clients.map(({ clientId }) => clientId))];
    const metadata = await this.#server.furtherMetadata.findAll(ids, connection);
    return new Set(ids.filter((id) => metadata.get(id)?.[LOGOUT_URI] !== undefined));
  }
}

/** Returns one message for each combination of a client and a session. */
function messagesFor(clients: readonly EndedClient[], now: number): readonly NewMessage[] {
  const bySid = new Map(clients.map((client) => [client.sid, client]));
  return [...bySid.values()].map(({ clientId, subject, sid }) => {
    const payload = JSON.stringify({ subject, sid } satisfies LogoutMessage);
    return { kind: LOGOUT, receiver: clientId, payload, expiresAt: now + DAY };
  });
}

const SESSION_ENDED =
  'the session has ended, or belongs to another person; Host.sessionId must return a new id ' +
  'after a sign-out';

/** Returns the claim `sid` for ID tokens. The details contain it only until the session ends. */
export function describeSession(details: Details): Readonly<Record<string, unknown>> {
  const kept = details[KEPT_AS] as KeptSession | undefined;
  return kept === undefined ? {} : { sid: kept.sid };
}
