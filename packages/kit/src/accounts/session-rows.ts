import type { Database, Migration, SqlConnection } from '@portico/sql';
import type { Authentication, AuthorizationServer, PersonReference } from 'portico';
import { samePerson } from 'portico/extension';

/**
 * A row of the sessions table. The session's id is stored only as a hash. The id itself is only in
 * the browser.
 */
export interface StoredSession {
  readonly idHash: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly secret: string;
  readonly person: PersonReference | null;
  /** When and how the user signed in, or null if no user is signed in. */
  readonly authentication: Authentication | null;
  /**
   * The time when the session ends, in milliseconds since 1970. All times in this file use this
   * unit.
   */
  readonly expiresAt: number;
}

/**
 * The maximum number of expired sessions that one cleanup removes. Each process runs a cleanup once
 * for every `INSERTS_PER_SWEEP` new sessions, so that the table stays small.
 */
const SWEEP_BATCH = 100;
const INSERTS_PER_SWEEP = 20;

/**
 * Tells the authorization server that one session, or all sessions of a user, have ended. Call this
 * function in the transaction that removes the sessions. A session is identified by its secret.
 * Returns a function that you must call after the commit.
 */
export type TellsEnd = AuthorizationServer['sessionEndedIn'];

/** Reads and writes the sessions table. */
export class SessionRows {
  readonly #database: Database;
  readonly #tellsEnd: TellsEnd;
  #inserts = 0;

  constructor(database: Database, tellsEnd: TellsEnd) {
    this.#database = database;
    this.#tellsEnd = tellsEnd;
  }

  /** Returns the session, or null if it does not exist or has ended. */
  async find(idHash: string, now: number): Promise<StoredSession | null> {
    const { rows } = await this.#database.execute<SessionRow>(
      `SELECT ${COLUMNS} FROM host_sessions WHERE id_hash = ? AND expires_at > ?`,
      [idHash, now],
    );
    return rows[0] === undefined ? null : toSession(idHash, rows[0]);
  }

  /**
   * Adds a session, and removes the session that it replaces. If no other person was signed in to
   * that session, the new session continues it, with its data and secret. Otherwise, that session
   * has ended. Returns the session as it was stored. Sometimes also removes expired sessions.
   */
  async insert(
    begun: StoredSession,
    replaced: StoredSession | null,
    now: number,
  ): Promise<StoredSession> {
    // Remove expired sessions before the session is stored. Otherwise, an error here would lose a
    // stored session.
    this.#inserts += 1;
    if (this.#inserts % INSERTS_PER_SWEEP === 0) await this.#sweep(now);
    const [stored, committed] = await this.#database.transaction(async (connection) => {
      // A session that a parallel sign-out has ended must not continue.
      const earlier = replaced === null ? null : await lock(connection, replaced);
      if (earlier !== null) await remove(connection, earlier.idHash);
      const isContinued = earlier !== null && belongsTo(begun.person, earlier);
      const { data, secret } = isContinued ? earlier : begun;
      const session = { ...begun, data, secret };
      await add(connection, session, now);
      const hasEnded = earlier !== null && !isContinued;
      return [session, hasEnded ? await this.#end(connection, earlier) : null] as const;
    });
    await committed?.();
    return stored;
  }

  /** Returns false if the session no longer has this id. */
  async extend(idHash: string, expiresAt: number): Promise<boolean> {
    const { affected } = await this.#database.execute(
      'UPDATE host_sessions SET expires_at = ? WHERE id_hash = ?',
      [expiresAt, idHash],
    );
    return affected > 0;
  }

  /**
   * Sets one key of the session's data, and keeps other keys that parallel requests have written.
   * Returns the data that the request may now see, or null if the session no longer exists.
   */
  writeKey(
    session: StoredSession,
    key: string,
    value: unknown,
  ): Promise<StoredSession['data'] | null> {
    return this.#database.transaction(async (connection) => {
      const latest = await lock(connection, session);
      if (latest === null) return null;
      const data = withKey(latest.data, key, value);
      await connection.execute('UPDATE host_sessions SET data = ? WHERE id_hash = ?', [
        JSON.stringify(data),
        latest.idHash,
      ]);
      // An id from before a sign-in must not read what was stored after it.
      return latest.idHash === session.idHash ? data : withKey(session.data, key, value);
    });
  }

  /**
   * Removes a session, also if a parallel sign-in has given it a new id. If a user was signed in,
   * tells the authorization server that the session has ended.
   */
  async remove(session: StoredSession): Promise<void> {
    const committed = await this.#database.transaction(async (connection) => {
      const latest = await lock(connection, session);
      if (latest !== null) await remove(connection, latest.idHash);
      return this.#end(connection, latest ?? session);
    });
    await committed?.();
  }

  /**
   * Removes all sessions of a user, and returns their number. Tells the authorization server about
   * each removed session, because a running request may use a session that the server has not
   * recorded yet.
   */
  async removeOfPerson(person: PersonReference): Promise<number> {
    const [removed, committed] = await this.#database.transaction(async (connection) => {
      const whose = [person.provider, person.id];
      const secrets = new Set<string>();
      let count = 0;
      // Repeat, because on PostgreSQL, a DELETE that waits for a parallel sign-in does not see the
      // new row of the session.
      for (;;) {
        const { rows } = await connection.execute<{ secret: string }>(
          `SELECT DISTINCT secret FROM host_sessions ${OF_PERSON} ORDER BY secret`,
          whose,
        );
        if (rows.length === 0) break;
        for (const { secret } of rows) secrets.add(secret);
        count += (await connection.execute(`DELETE FROM host_sessions ${OF_PERSON}`, whose))
          .affected;
      }
      const told = [await this.#tellsEnd(connection, { person })];
      for (const session of secrets) told.push(await this.#tellsEnd(connection, { session }));
      return [count, told] as const;
    });
    for (const each of committed) await each();
    return removed;
  }

  async #end(connection: SqlConnection, { person, secret }: StoredSession) {
    return person === null ? null : this.#tellsEnd(connection, { session: secret });
  }

  async #sweep(now: number): Promise<void> {
    const { rows } = await this.#database.execute<{ id_hash: string }>(
      'SELECT id_hash FROM host_sessions WHERE expires_at <= ? ORDER BY expires_at ' +
        `LIMIT ${SWEEP_BATCH}`,
      [now],
    );
    if (rows.length === 0) return;
    await this.#database.execute(
      `DELETE FROM host_sessions WHERE id_hash IN (${rows.map(() => '?').join(', ')}) AND ` +
        'expires_at <= ?',
      [...rows.map((row) => row.id_hash), now],
    );
  }
}

const COLUMNS = 'data, secret, user_provider, user_id, authentication, expires_at';
const OF_PERSON = 'WHERE user_provider = ? AND user_id = ?';

/**
 * Locks the row of a session that was read before, and returns its latest state. Returns null if
 * the session has ended. No two rows have the same secret, because a row gets the secret of another
 * row only by replacing it. So if a parallel sign-in has given the session a new id, the secret
 * finds it.
 */
async function lock(
  connection: SqlConnection,
  { idHash, secret }: StoredSession,
): Promise<StoredSession | null> {
  for (let id: string | undefined = idHash; id !== undefined;) {
    // Start with a write, because it locks the row. The read that follows then returns the latest
    // data.
    await connection.execute('UPDATE host_sessions SET expires_at = expires_at WHERE id_hash = ?', [
      id,
    ]);
    const { rows } = await connection.execute<SessionRow>(
      `SELECT ${COLUMNS} FROM host_sessions WHERE id_hash = ?`,
      [id],
    );
    if (rows[0] !== undefined) return toSession(id, rows[0]);
    const { rows: moved } = await connection.execute<{ id_hash: string }>(
      'SELECT id_hash FROM host_sessions WHERE secret = ?',
      [secret],
    );
    id = moved[0]?.id_hash;
  }
  return null;
}

function withKey(data: StoredSession['data'], key: string, value: unknown): StoredSession['data'] {
  const entries = new Map(Object.entries(data));
  if (value === undefined) entries.delete(key);
  else entries.set(key, value);
  return Object.fromEntries(entries);
}

/** Whether the session of this person may continue this earlier session. */
function belongsTo(person: PersonReference | null, earlier: StoredSession): boolean {
  return earlier.person === null || (person !== null && samePerson(earlier.person, person));
}

async function add(connection: SqlConnection, session: StoredSession, now: number): Promise<void> {
  const { idHash, data, secret, person, authentication, expiresAt } = session;
  const signedIn = authentication === null ? null : JSON.stringify(authentication);
  const { provider = null, id = null } = person ?? {};
  await connection.execute(
    `INSERT INTO host_sessions
      (id_hash, data, secret, user_provider, user_id, authentication, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [idHash, JSON.stringify(data), secret, provider, id, signedIn, now, expiresAt],
  );
}

async function remove(connection: SqlConnection, idHash: string): Promise<void> {
  await connection.execute('DELETE FROM host_sessions WHERE id_hash = ?', [idHash]);
}

interface SessionRow {
  readonly data: string;
  readonly secret: string;
  readonly user_provider: string | null;
  readonly user_id: string | null;
  readonly authentication: string | null;
  readonly expires_at: number;
}

function toSession(idHash: string, row: SessionRow): StoredSession {
  const { user_provider: provider, user_id: id } = row;
  return {
    idHash,
    data: JSON.parse(row.data) as Record<string, unknown>,
    secret: row.secret,
    person: provider === null || id === null ? null : { provider, id },
    authentication: row.authentication === null ? null : toAuthentication(row.authentication),
    expiresAt: row.expires_at,
  };
}

function toAuthentication(stored: string): Authentication {
  const { at, ...how } = JSON.parse(stored) as Omit<Authentication, 'at'> & { readonly at: string };
  return { ...how, at: new Date(at) };
}

export const sessionsMigration: Migration = {
  name: 'host_0001_sessions',
  async up({ types: { identifier, text, time, tableOptions }, change }) {
    await change(`CREATE TABLE host_sessions (
      id_hash ${identifier} NOT NULL PRIMARY KEY,
      data ${text} NOT NULL,
      secret ${identifier} NOT NULL,
      user_provider ${identifier},
      user_id ${identifier},
      authentication ${text},
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX host_sessions_expiry ON host_sessions (expires_at)');
  },
};

/** With this index, ending all sessions of a user reads and locks only these sessions. */
export const sessionsOfPersonMigration = indexMigration(
  'host_0004_sessions_of_person',
  'host_sessions_person ON host_sessions (user_provider, user_id)',
);

/** With this index, a sign-out finds a session that a parallel sign-in has renewed. */
export const sessionsBySecretMigration = indexMigration(
  'host_0005_sessions_by_secret',
  'host_sessions_secret ON host_sessions (secret)',
);

function indexMigration(name: string, index: string): Migration {
  return {
    name,
    async up({ dialect, change }) {
      // On PostgreSQL, the operator may already have created the index with `CREATE INDEX
      // CONCURRENTLY`, which blocks no writes.
      await change(`CREATE INDEX ${dialect === 'postgres' ? 'IF NOT EXISTS ' : ''}${index}`);
    },
  };
}
