import { getDialect, type Database, type SqlConnection, type SqlParameter } from '@portico/sql';
import { keyedHash, randomToken, tokenHash } from '../../crypto.ts';
import type { PersonReference } from '../../person.ts';
import type { EndedSessions } from '../../host/session-ends.ts';
import type { Batch } from '../../store/batches.ts';
import { insertInto, placeholders } from '../../store/sql/statements.ts';
import { EndedPeople, type Committed } from './ended-people.ts';
import { pruneSignIns } from './old-sign-ins.ts';

/** How long the row of an ended session is kept, in milliseconds. */
const KEPT_ENDED = 3_600_000;
/**
 * The maximum duration of an authorization request without the lifetime of its code, in
 * milliseconds.
 */
const REQUEST_ENDED = 600_000;

/** How many rows one statement writes at most. */
const BATCH = 100;

/** An authorization that begins in one of the host's sessions. */
export interface SessionClient {
  readonly familyId: string;
  readonly clientId: string;
  /** The user's `sub`. */
  readonly subject: string;
  /** True if the client keeps its access after the session has ended. */
  readonly keepsAccess: boolean;
}

/** The session of the host in which an authorization begins. */
export interface BegunSession {
  /** The id that the host uses for the session. */
  readonly session: string;
  readonly person: PersonReference;
  /** When the server began to read the session from the host, in milliseconds since 1970. */
  readonly readAt: number;
}

/** An authorization that began in a session that has ended. */
export interface EndedClient extends SessionClient {
  /** Identifies the session to the client. */
  readonly sid: string;
  readonly createdAt: number;
}

/**
 * Stores the host's sessions in which users signed in to clients. Contains only hashes of the
 * session ids.
 */
export class Sessions {
  readonly #database: Database;
  readonly #people: EndedPeople;
  readonly #insertSession: string;
  readonly #requestEnded: number;

  /** `codeTtl` is in seconds. */
  constructor(database: Database, codeTtl: number) {
    this.#database = database;
    // A second code can replace the first one, so the lifetime counts twice.
    this.#requestEnded = REQUEST_ENDED + 2000 * codeTtl;
    this.#people = new EndedPeople(database);
    this.#insertSession = getDialect(database).insertIfNone(SESSION, '(session_hash)');
  }

  /**
   * Records that an authorization begins in this session of the user. Call it before you store the
   * authorization. Returns the `sid`, or null if the session has ended or belongs to another user.
   *
   * The updates lock the rows of the session and of the user. If sessions end at the same time, one
   * transaction waits for the other. Then either this method finds that the session has ended, or
   * `end` finds the record from this method.
   */
  begin(
    { session, person, readAt }: BegunSession,
    { familyId, clientId, subject, keepsAccess }: SessionClient,
    now: number,
  ): Promise<string | null> {
    const hash = sessionHash(session);
    // When the server checks this record again. By then, the sign-in is complete or abandoned.
    const until = now + this.#requestEnded;
    return this.#database.transaction(async (connection) => {
      if (!(await this.#people.mayBegin(connection, person, { hash, readAt }, now))) return null;
      const { provider, id } = person;
      await connection.execute(this.#insertSession, [
        hash,
        randomToken(),
        provider,
        id,
        null,
        until,
      ]);
      const claimed = await connection.execute(CLAIM, [until, hash, provider, id]);
      if (claimed.affected !== 1) return null;
      const { rows } = await connection.execute<{ sid_key: string }>(FIND_KEY, [hash]);
      const values = [familyId, hash, clientId, subject, keepsAccess ? 1 : 0, now, until];
      await connection.execute(INSERT_CLIENT, values);
      return sidFor(rows[0]?.sid_key ?? '', clientId);
    });
  }

  /**
   * Returns the `sid` of the session for the client. Returns null if no authorization began in it.
   */
  async sid(session: string, clientId: string): Promise<string | null> {
    const hash = sessionHash(session);
    const { rows } = await this.#database.execute<{ sid_key: string }>(FIND_KEY, [hash]);
    const key = rows[0]?.sid_key ?? '';
    return key === '' ? null : sidFor(key, clientId);
  }

  /**
   * Ends sessions in the caller's transaction. Deletes the records of the authorizations that began
   * in them, and returns these authorizations. Returns none for a session that had already ended.
   * Call `committed` after the commit.
   */
  async end(
    connection: SqlConnection,
    ended: EndedSessions,
    now: number,
  ): Promise<{ readonly clients: readonly EndedClient[]; readonly committed: Committed }> {
    const until = now + KEPT_ENDED;
    if ('session' in ended) {
      const hash = sessionHash(ended.session);
      await this.#endOne(connection, hash, now, until);
      const clients = await this.#takeClients(connection, 's.session_hash = ?', [hash]);
      return { clients, committed: async () => {} };
    }
    const { person, except } = ended;
    const exceptHash = except === undefined ? '' : sessionHash(except);
    const committed = await this.#people.end(connection, person, exceptHash, now);
    const whose = [person.id, person.provider, exceptHash];
    await connection.execute(END_OF_PERSON, [now, until, ...whose]);
    const ofPerson = `${OF_PERSON} AND s.ended_at IS NOT NULL`;
    return { clients: await this.#takeClients(connection, ofPerson, whose), committed };
  }

  /** Deletes all data about a user. Returns true if there was any. */
  forget(person: PersonReference): Promise<boolean> {
    const { provider, id } = person;
    return this.#database.transaction(async (connection) => {
      const wasEnded = await this.#people.forget(connection, person);
      const clients = await connection.execute(FORGET_CLIENTS, [id, provider]);
      const sessions = await connection.execute(FORGET_SESSIONS, [id, provider]);
      return wasEnded || clients.affected + sessions.affected > 0;
    });
  }

  /**
   * Checks at most `limit` records of each of these kinds. Returns how many records it has removed,
   * and whether it must check more:
   *
   * - sign-ins that were never completed
   * - sign-ins that are older than ninety days and whose authorization no longer exists
   * - sessions without sign-ins, and old entries about when users' sessions ended
   */
  async prune(now: number, limit: number): Promise<Batch> {
    const signIns = await pruneSignIns(this.#database, now, limit);
    const people = await this.#people.prune(now, limit);
    return { count: signIns.count + people, more: signIns.more || people === limit };
  }

  /**
   * Ends a session. If it has no row, inserts one that marks it as ended, so a running request
   * cannot begin an authorization in it. Another process may insert the row in between, so the
   * first statement runs again at the end.
   */
  async #endOne(
    connection: SqlConnection,
    hash: string,
    now: number,
    until: number,
  ): Promise<void> {
    const end = async () => (await connection.execute(END, [now, until, hash])).affected === 1;
    if (await end()) return;
    await connection.execute(this.#insertSession, [hash, '', '', '', now, until]);
    await end();
  }

  async #takeClients(
    connection: SqlConnection,
    condition: string,
    parameters: readonly SqlParameter[],
  ): Promise<readonly EndedClient[]> {
    const { rows } = await connection.execute<ClientRow>(
      `SELECT c.family_id, c.client_id, c.subject, c.keeps_access, c.created_at, s.sid_key
      FROM oauth_session_clients c JOIN oauth_sessions s ON s.session_hash = c.session_hash
      WHERE ${condition} ORDER BY c.family_id`,
      parameters,
    );
    for (let from = 0; from < rows.length; from += BATCH) {
      const ids = rows.slice(from, from + BATCH).map(({ family_id: id }) => id);
      await connection.execute(
        `DELETE FROM oauth_session_clients WHERE family_id IN (${placeholders(ids)})`,
        ids,
      );
    }
    return rows.map(toEndedClient);
  }
}

const SESSION = `oauth_sessions
  (session_hash, sid_key, user_provider, user_id, ended_at, prune_after) VALUES (?, ?, ?, ?, ?, ?)`;
const CLAIM = `UPDATE oauth_sessions SET prune_after = ?
  WHERE session_hash = ? AND user_provider = ? AND user_id = ? AND ended_at IS NULL`;
const FIND_KEY = 'SELECT sid_key FROM oauth_sessions WHERE session_hash = ?';
const INSERT_CLIENT = insertInto(
  'oauth_session_clients',
  'family_id, session_hash, client_id, subject, keeps_access, created_at, prune_after',
);
/**
 * Also update a session that has already ended. An earlier call may have ended it before the
 * standby databases received the change.
 */
const END = `UPDATE oauth_sessions SET ended_at = COALESCE(ended_at, ?), prune_after = ?
  WHERE session_hash = ?`;
const END_OF_PERSON = `UPDATE oauth_sessions SET ended_at = ?, prune_after = ?
  WHERE user_id = ? AND user_provider = ? AND session_hash <> ? AND ended_at IS NULL`;
const OF_PERSON = 's.user_id = ? AND s.user_provider = ? AND s.session_hash <> ?';
const FORGET_CLIENTS = `DELETE FROM oauth_session_clients WHERE session_hash IN
  (SELECT session_hash FROM oauth_sessions WHERE user_id = ? AND user_provider = ?)`;
const FORGET_SESSIONS = 'DELETE FROM oauth_sessions WHERE user_id = ? AND user_provider = ?';
interface ClientRow {
  readonly family_id: string;
  readonly client_id: string;
  readonly subject: string;
  readonly keeps_access: number | boolean;
  readonly created_at: number;
  readonly sid_key: string;
}

function toEndedClient(row: ClientRow): EndedClient {
  return {
    familyId: row.family_id,
    clientId: row.client_id,
    subject: row.subject,
    keepsAccess: Number(row.keeps_access) === 1,
    createdAt: row.created_at,
    sid: sidFor(row.sid_key, row.client_id),
  };
}

/** Some hosts use the session id as the secret in the browser's cookie, so store only its hash. */
function sessionHash(session: string): string {
  return tokenHash(`session ${session}`);
}

/** Each client gets a different `sid`, so clients cannot recognize a shared session. */
function sidFor(key: string, clientId: string): string {
  return keyedHash(key, clientId);
}
