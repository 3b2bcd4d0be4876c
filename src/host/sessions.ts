import { createHash } from 'node:crypto';
import { isBearerRequest } from '../http/bearer.ts';
import { samePerson, type PersonReference } from '../contracts/person.ts';
import type { Session } from './contracts.ts';
import type { Database, SqlConnection } from '../sql/contract.ts';
import type { Migration } from '../sql/schema.ts';
import { cookieKind, randomValue, randomValueOf } from './cookies.ts';
import { HttpError } from './errors.ts';

/** Sessions in the database: they survive a restart and serve any number of processes. */
export interface Sessions {
  /** The session of one request, read from its cookie when it is first asked for. */
  of(request: Request): RequestSession;
}

/** The session of the request being answered, with what `auth()` needs of it. */
export interface RequestSession extends Session {
  /** As `secret()`, but null where that would begin a session. */
  existingSecret(): Promise<string | null>;
  person(): Promise<PersonReference | null>;
  signIn(person: PersonReference): Promise<void>;
  signOut(): Promise<void>;
  /** The `Set-Cookie` header that the response must carry; null when the browser's cookie is right. */
  setCookie(): string | null;
}

export interface SessionsOptions {
  readonly database: Database;
  /** How long a session lives after its last use, in seconds. */
  readonly lifetime: number;
  /** Whether the application is served over https. */
  readonly secure: boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** A session's row; its id is known to the browser only. */
interface StoredSession {
  readonly idHash: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly secret: string;
  readonly person: PersonReference | null;
  readonly expiresAt: number;
}

/** A session's expiry is moved at most this often, in milliseconds. */
const SLIDE_AFTER = 3_600_000;
/** A session in which nobody is signed in lives at most this long after its last use, in seconds: a visit. */
const ANONYMOUS_LIFETIME = 2 * 3600;
/** Ended sessions go in batches, a batch at every so many new ones, so that the table shrinks by itself. */
const SWEEP_BATCH = 100;
const STARTS_PER_SWEEP = 20;

export function createSessions({ database, lifetime, secure, clock }: SessionsOptions): Sessions {
  const { name: cookieName, attributes } = cookieKind('portico_session', secure);
  const lifetimeOf = (person: PersonReference | null) =>
    person === null ? Math.min(lifetime, ANONYMOUS_LIFETIME) : lifetime;
  let starts = 0;

  function of(request: Request): RequestSession {
    const withoutSession = isBearerRequest(request);
    const id = withoutSession ? null : randomValueOf(request, cookieName);
    let loaded: Promise<StoredSession | null> | null = null;
    let cookie: string | null = null;

    const load = () => (loaded ??= id === null ? Promise.resolve(null) : read(id));

    function keep(newId: string, session: StoredSession): StoredSession {
      loaded = Promise.resolve(session);
      cookie = `${cookieName}=${newId}; ${attributes}; Max-Age=${lifetimeOf(session.person)}`;
      return session;
    }

    async function read(sessionId: string): Promise<StoredSession | null> {
      const now = clock();
      const session = await find(database, hashOf(sessionId), now);
      if (session === null) return null;
      const seconds = lifetimeOf(session.person);
      const expiresAt = now + seconds * 1000;
      if (expiresAt - session.expiresAt > Math.min(SLIDE_AFTER, seconds * 500)) {
        await database.execute('UPDATE host_sessions SET expires_at = ? WHERE id_hash = ?', [
          expiresAt,
          session.idHash,
        ]);
        cookie = `${cookieName}=${sessionId}; ${attributes}; Max-Age=${seconds}`;
      }
      return session;
    }

    async function start(
      beginning: Pick<StoredSession, 'data' | 'secret' | 'person'>,
      replaced: string | null,
    ) {
      if (withoutSession) throw new HttpError(400, 'A request with a bearer token has no session');
      const newId = randomValue();
      const now = clock();
      const expiresAt = now + lifetimeOf(beginning.person) * 1000;
      const session = { ...beginning, idHash: hashOf(newId), expiresAt };
      await database.transaction(async (connection) => {
        if (replaced !== null) await remove(connection, replaced);
        await insert(connection, session, now);
      });
      starts += 1;
      if (starts % STARTS_PER_SWEEP === 0) await sweep(database, now);
      return keep(newId, session);
    }

    async function existing(): Promise<StoredSession> {
      return (await load()) ?? start({ data: {}, secret: randomValue(), person: null }, null);
    }

    return {
      async get(key) {
        const data = (await load())?.data ?? {};
        return Object.hasOwn(data, key) ? data[key] : undefined;
      },
      async set(key, value) {
        const session = await existing();
        const data = await writeKey(database, session.idHash, key, value);
        loaded = Promise.resolve(data === null ? null : { ...session, data });
      },
      secret: async () => (await existing()).secret,
      existingSecret: async () => (await load())?.secret ?? null,
      person: async () => (await load())?.person ?? null,
      async signIn(person) {
        const before = await load();
        const same = before !== null && (before.person === null || samePerson(before.person, person));
        const kept = same
          ? { data: before.data, secret: before.secret }
          : { data: {}, secret: randomValue() };
        await start({ ...kept, person }, before?.idHash ?? null);
      },
      async signOut() {
        const session = await load();
        if (session !== null) await remove(database, session.idHash);
        loaded = Promise.resolve(null);
        cookie = `${cookieName}=; ${attributes}; Max-Age=0`;
      },
      setCookie: () => cookie,
    };
  }

  return { of };
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

// --- statements -----------------------------------------------------------------------------------------------

interface SessionRow {
  readonly id_hash: string;
  readonly data: string;
  readonly secret: string;
  readonly user_provider: string | null;
  readonly user_id: string | null;
  readonly expires_at: number;
}

async function find(connection: SqlConnection, idHash: string, now: number): Promise<StoredSession | null> {
  const { rows } = await connection.execute<SessionRow>(
    'SELECT id_hash, data, secret, user_provider, user_id, expires_at FROM host_sessions WHERE id_hash = ? AND expires_at > ?',
    [idHash, now],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    idHash,
    data: JSON.parse(row.data) as Record<string, unknown>,
    secret: row.secret,
    person:
      row.user_provider === null || row.user_id === null
        ? null
        : { provider: row.user_provider, id: row.user_id },
    expiresAt: row.expires_at,
  };
}

async function insert(connection: SqlConnection, session: StoredSession, now: number): Promise<void> {
  const { idHash, data, secret, person, expiresAt } = session;
  await connection.execute(
    `INSERT INTO host_sessions (id_hash, data, secret, user_provider, user_id, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [idHash, JSON.stringify(data), secret, person?.provider ?? null, person?.id ?? null, now, expiresAt],
  );
}

async function remove(connection: SqlConnection, idHash: string): Promise<void> {
  await connection.execute('DELETE FROM host_sessions WHERE id_hash = ?', [idHash]);
}

/** Writes one key and leaves those that other requests wrote meanwhile; null when the session has ended. */
function writeKey(
  database: Database,
  idHash: string,
  key: string,
  value: unknown,
): Promise<Readonly<Record<string, unknown>> | null> {
  return database.transaction(async (connection) => {
    // A write first: it takes the row's lock, so that what is read next is the latest.
    await connection.execute('UPDATE host_sessions SET expires_at = expires_at WHERE id_hash = ?', [idHash]);
    const { rows } = await connection.execute<{ data: string }>(
      'SELECT data FROM host_sessions WHERE id_hash = ?',
      [idHash],
    );
    if (rows[0] === undefined) return null;
    const entries = new Map(Object.entries(JSON.parse(rows[0].data) as Record<string, unknown>));
    if (value === undefined) entries.delete(key);
    else entries.set(key, value);
    const data = Object.fromEntries(entries);
    await connection.execute('UPDATE host_sessions SET data = ? WHERE id_hash = ?', [
      JSON.stringify(data),
      idHash,
    ]);
    return data;
  });
}

async function sweep(database: Database, now: number): Promise<void> {
  const { rows } = await database.execute<{ id_hash: string }>(
    `SELECT id_hash FROM host_sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ${SWEEP_BATCH}`,
    [now],
  );
  if (rows.length === 0) return;
  await database.execute(
    `DELETE FROM host_sessions WHERE id_hash IN (${rows.map(() => '?').join(', ')}) AND expires_at <= ?`,
    [...rows.map((row) => row.id_hash), now],
  );
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
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX host_sessions_expiry ON host_sessions (expires_at)');
  },
};
