import type { Database } from '@portico/sql';
import type { Authentication, PersonReference } from 'portico';
import { isBearerRequest, personProblem } from 'portico/extension';
import type { AuthenticationMethod, Session } from '../contracts.ts';
import { HttpError } from '../errors.ts';
import { createHash } from 'node:crypto';
import {
  cookieKind,
  type CookieKind,
  type CookieScope,
  randomValue,
  readRandomValue,
} from '../http/cookies.ts';
import { SessionRows, type StoredSession, type TellsEnd } from './session-rows.ts';

/**
 * The minimum time between two extensions of a session, in milliseconds. For a short session, half
 * of its lifetime is used instead.
 */
const SLIDE_AFTER = 3_600_000;
/** How long a session without a signed-in user lasts at most after its last use, in seconds. */
const ANONYMOUS_LIFETIME = 2 * 3600;

/** Stores sessions in the database, so that they survive a restart and all processes share them. */
export class Sessions {
  readonly rows: SessionRows;
  readonly clock: () => number;
  readonly #lifetime: number;
  readonly #cookie: CookieKind;
  readonly #tokenSchemes: readonly string[];

  /**
   * - `lifetime`: how long a session lasts after its last use, in seconds.
   * - `tokenSchemes`: the `Authorization` schemes of access tokens besides Bearer, for example
   *   DPoP.
   * - `clock`: returns the time in milliseconds since 1970.
   * - `tellsEnd`: called when sessions end.
   */
  constructor(
    database: Database,
    lifetime: number,
    cookies: CookieScope,
    tokenSchemes: readonly string[],
    clock: () => number,
    tellsEnd: TellsEnd,
  ) {
    this.rows = new SessionRows(database, tellsEnd);
    this.clock = clock;
    this.#lifetime = lifetime;
    this.#cookie = cookieKind('portico_session', cookies);
    this.#tokenSchemes = tokenSchemes;
  }

  /** Returns the session of a request. Reads it from the database on first use. */
  of(request: Request): RequestSession {
    const isAllowed = !isBearerRequest(request, this.#tokenSchemes);
    return new RequestSession(
      this,
      isAllowed,
      isAllowed ? readRandomValue(request, this.#cookie.name) : null,
    );
  }

  /**
   * Returns how long a session lasts after its last use, in seconds. Without a signed-in user, it
   * lasts at most two hours.
   */
  lifetimeFor(person: PersonReference | null): number {
    return person === null ? Math.min(this.#lifetime, ANONYMOUS_LIFETIME) : this.#lifetime;
  }

  setCookie(id: string, seconds: number): string {
    return `${this.#cookie.name}=${id}; ${this.#cookie.attributes}; Max-Age=${seconds}`;
  }
}

/** The session of one request, with the methods that `auth()` needs. */
export class RequestSession implements Session {
  readonly #sessions: Sessions;
  /** Whether the request may use a session. This is false if the request has an access token. */
  readonly #isAllowed: boolean;
  readonly #id: string | null;
  #loaded: Promise<StoredSession | null> | null = null;
  #cookie: string | null = null;

  constructor(sessions: Sessions, isAllowed: boolean, id: string | null) {
    this.#sessions = sessions;
    this.#isAllowed = isAllowed;
    this.#id = id;
  }

  async get(key: string): Promise<unknown> {
    const data = (await this.#load())?.data ?? {};
    return Object.hasOwn(data, key) ? data[key] : undefined;
  }

  async set(key: string, value: unknown): Promise<void> {
    const session = await this.#loadOrBegin();
    const data = await this.#sessions.rows.writeKey(session, key, value);
    this.#loaded = Promise.resolve(data === null ? null : { ...session, data });
  }

  async secret(): Promise<string> {
    return (await this.#loadOrBegin()).secret;
  }

  /**
   * Returns the session's secret, or null if there is no session. Unlike `secret()`, does not start
   * a session.
   */
  async existingSecret(): Promise<string | null> {
    return (await this.#load())?.secret ?? null;
  }

  async person(): Promise<PersonReference | null> {
    return (await this.#load())?.person ?? null;
  }

  /** Returns when and how the user signed in, or null if no user is signed in. */
  async authentication(): Promise<Authentication | null> {
    return (await this.#load())?.authentication ?? null;
  }

  async signIn(person: PersonReference, method: AuthenticationMethod): Promise<void> {
    const problem = personProblem(person);
    if (problem !== null) throw new Error(`No one can sign in: ${problem}`);
    const before = await this.#load();
    const authentication = { at: new Date(this.#sessions.clock()), ...method };
    await this.#begin({ ...newSession(), person, authentication }, before);
  }

  async signOut(): Promise<void> {
    const session = await this.#load();
    // If this fails, the browser must not receive the cookie of a session that this request began.
    this.#cookie = null;
    if (session !== null) await this.#sessions.rows.remove(session);
    this.#loaded = Promise.resolve(null);
    this.#cookie = this.#sessions.setCookie('', 0);
  }

  /**
   * Returns the `Set-Cookie` header for the response, or null if the response needs no new cookie.
   */
  setCookie(): string | null {
    return this.#cookie;
  }

  #load(): Promise<StoredSession | null> {
    return (this.#loaded ??= this.#id === null ? Promise.resolve(null) : this.#read(this.#id));
  }

  async #read(id: string): Promise<StoredSession | null> {
    const now = this.#sessions.clock();
    const session = await this.#sessions.rows.find(hash(id), now);
    if (session === null) return null;
    const seconds = this.#sessions.lifetimeFor(session.person);
    const expiresAt = now + seconds * 1000;
    if (expiresAt - session.expiresAt > Math.min(SLIDE_AFTER, seconds * 500)) {
      // A parallel sign-in may have given the session a new id. Then keep the cookie of that one.
      const isExtended = await this.#sessions.rows.extend(session.idHash, expiresAt);
      if (isExtended) this.#cookie = this.#sessions.setCookie(id, seconds);
    }
    return session;
  }

  async #loadOrBegin(): Promise<StoredSession> {
    return (await this.#load()) ?? (await this.#begin(newSession(), null));
  }

  async #begin(beginning: NewSession, replaced: StoredSession | null): Promise<StoredSession> {
    if (!this.#isAllowed) throw new HttpError(400, 'A request with a bearer token has no session');
    const id = randomValue();
    const now = this.#sessions.clock();
    const seconds = this.#sessions.lifetimeFor(beginning.person);
    const begun = { ...beginning, idHash: hash(id), expiresAt: now + seconds * 1000 };
    const session = await this.#sessions.rows.insert(begun, replaced, now);
    this.#loaded = Promise.resolve(session);
    this.#cookie = this.#sessions.setCookie(id, seconds);
    return session;
  }
}

type NewSession = Omit<StoredSession, 'idHash' | 'expiresAt'>;

function newSession(): NewSession {
  return { data: {}, secret: randomValue(), person: null, authentication: null };
}

function hash(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
