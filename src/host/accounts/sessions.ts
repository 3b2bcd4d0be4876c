import { createHash } from 'node:crypto';
import { personProblem, samePerson, type PersonReference } from '../../contracts/person.ts';
import { isBearerRequest } from '../../http/bearer.ts';
import type { Database } from '../../sql/contract.ts';
import type { Session } from '../contracts.ts';
import { cookieKind, type CookieScope, randomValue, readRandomValue } from '../http/cookies.ts';
import { HttpError } from '../errors.ts';
import { createSessionRows, type StoredSession } from './session-rows.ts';

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
  readonly cookies: CookieScope;
  /** Whether `Authorization: DPoP` says that a request is an application's, as Bearer does. */
  readonly takesDpop: boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** A session's expiry is moved at most this often, in milliseconds. */
const SLIDE_AFTER = 3_600_000;
/** A session in which nobody is signed in lives at most this long after its last use, in seconds: a visit. */
const ANONYMOUS_LIFETIME = 2 * 3600;

export function createSessions({ database, lifetime, cookies, takesDpop, clock }: SessionsOptions): Sessions {
  const { name: cookieName, attributes } = cookieKind('portico_session', cookies);
  const rows = createSessionRows(database);

  const lifetimeFor = (person: PersonReference | null) =>
    person === null ? Math.min(lifetime, ANONYMOUS_LIFETIME) : lifetime;
  const cookieWith = (id: string, seconds: number) =>
    `${cookieName}=${id}; ${attributes}; Max-Age=${seconds}`;

  function of(request: Request): RequestSession {
    const withoutSession = isBearerRequest(request, takesDpop);
    const id = withoutSession ? null : readRandomValue(request, cookieName);
    let loaded: Promise<StoredSession | null> | null = null;
    let cookie: string | null = null;

    const load = () => (loaded ??= id === null ? Promise.resolve(null) : read(id));

    async function read(sessionId: string): Promise<StoredSession | null> {
      const now = clock();
      const session = await rows.find(hash(sessionId), now);
      if (session === null) return null;
      const seconds = lifetimeFor(session.person);
      const expiresAt = now + seconds * 1000;
      if (expiresAt - session.expiresAt > Math.min(SLIDE_AFTER, seconds * 500)) {
        await rows.extend(session.idHash, expiresAt);
        cookie = cookieWith(sessionId, seconds);
      }
      return session;
    }

    async function begin(
      beginning: Pick<StoredSession, 'data' | 'secret' | 'person'>,
      replaced: string | null,
    ): Promise<StoredSession> {
      if (withoutSession) throw new HttpError(400, 'A request with a bearer token has no session');
      const newId = randomValue();
      const now = clock();
      const seconds = lifetimeFor(beginning.person);
      const session = { ...beginning, idHash: hash(newId), expiresAt: now + seconds * 1000 };
      await rows.insert(session, replaced, now);
      loaded = Promise.resolve(session);
      cookie = cookieWith(newId, seconds);
      return session;
    }

    const loadOrBegin = async () =>
      (await load()) ?? (await begin({ data: {}, secret: randomValue(), person: null }, null));

    return {
      async get(key) {
        const data = (await load())?.data ?? {};
        return Object.hasOwn(data, key) ? data[key] : undefined;
      },
      async set(key, value) {
        const session = await loadOrBegin();
        const data = await rows.writeKey(session.idHash, key, value);
        loaded = Promise.resolve(data === null ? null : { ...session, data });
      },
      secret: async () => (await loadOrBegin()).secret,
      existingSecret: async () => (await load())?.secret ?? null,
      person: async () => (await load())?.person ?? null,
      async signIn(person) {
        const problem = personProblem(person);
        if (problem !== null) throw new Error(`Nobody can be signed in: ${problem}`);
        const before = await load();
        const same = before !== null && (before.person === null || samePerson(before.person, person));
        const kept = same
          ? { data: before.data, secret: before.secret }
          : { data: {}, secret: randomValue() };
        await begin({ ...kept, person }, before?.idHash ?? null);
      },
      async signOut() {
        const session = await load();
        if (session !== null) await rows.remove(session.idHash);
        loaded = Promise.resolve(null);
        cookie = cookieWith('', 0);
      },
      setCookie: () => cookie,
    };
  }

  return { of };
}

function hash(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
