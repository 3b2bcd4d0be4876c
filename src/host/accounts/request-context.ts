import { AsyncLocalStorage } from 'node:async_hooks';
import { requestIdOf } from '../../http/request-id.ts';
import { createAuth } from './auth.ts';
import type { Accounts, Auth, Session } from '../contracts.ts';
import { createCsrfTokens, type CsrfTokens } from './csrf.ts';
import type { CookieScope } from '../http/cookies.ts';
import type { KnownBrowser, KnownBrowsers } from './known-browsers.ts';
import type { RequestSession, Sessions } from './sessions.ts';

/** What belongs to the request being answered. */
export interface RequestContext {
  /** Null in an application without accounts, as are `auth`, `csrf` and `knownBrowser`. */
  readonly session: Session | null;
  readonly auth: Auth | null;
  readonly csrf: CsrfTokens | null;
  readonly knownBrowser: KnownBrowser | null;
  readonly clientAddress: string | null;
  /** The request's id, in the log and in the response. */
  readonly requestId: string;
  /** The `Set-Cookie` headers that the response must carry. */
  setCookies(): readonly string[];
}

/** `address` returns where the request comes from; it is called only when that is needed. */
export type CreateContext = (request: Request, address: () => string | null) => RequestContext;

export interface RequestContextOptions {
  /** Null in an application without accounts. */
  readonly sessions: Sessions | null;
  readonly knownBrowsers: KnownBrowsers;
  readonly accounts: Accounts;
  readonly cookies: CookieScope;
  readonly takesDpop: boolean;
}

type PartsWithAccounts = RequestContextOptions & { readonly sessions: Sessions };

/** Most requests use nothing of their context, so each part is made when it is first used. */
export function createRequestContexts({ sessions, ...others }: RequestContextOptions): CreateContext {
  if (sessions === null) return (request, address) => new ContextWithoutAccounts(request, address);
  const parts = { ...others, sessions };
  return (request, address) => new ContextWithAccounts(parts, request, address);
}

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs work in this context, with everything it awaits. */
export function runWithContext<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
  return requests.run(context, work);
}

/** The session of the request being answered. Throws outside of one, and in an application without accounts. */
export function session(): Session {
  return current('session()').session ?? refuse('session()');
}

/** Who is signed in for the request being answered. Throws outside of one, and in an application without accounts. */
export function auth(): Auth {
  return current('auth()').auth ?? refuse('auth()');
}

/** The CSRF tokens of the browser that sent the request being answered. Throws where `session()` does. */
export function csrfTokens(): CsrfTokens {
  return current('csrfTokens()').csrf ?? refuse('csrfTokens()');
}

/** Where the request being answered comes from; null when it is not known. Throws outside of one. */
export function clientAddress(): string | null {
  return current('clientAddress()').clientAddress;
}

/** The same, and null outside of a request. */
export function currentAddress(): string | null {
  return requests.getStore()?.clientAddress ?? null;
}

/** The browser that sent the request being answered; null outside of a request, and in an application without accounts. */
export function currentBrowser(): KnownBrowser | null {
  return requests.getStore()?.knownBrowser ?? null;
}

function current(call: string): RequestContext {
  return requests.getStore() ?? refuse(call);
}

function refuse(call: string): never {
  throw new Error(
    `${call} was called outside of a request, or in an application without accounts: ` +
      'call it in a route handler, and give defineApplication() its accounts',
  );
}

const NONE: readonly string[] = [];

// --- with accounts, and without -------------------------------------------------------------------------------

class ContextWithAccounts implements RequestContext {
  readonly #parts: PartsWithAccounts;
  readonly #request: Request;
  readonly #address: () => string | null;
  #session: RequestSession | null = null;
  #csrf: CsrfTokens | null = null;
  #knownBrowser: KnownBrowser | null = null;
  #auth: Auth | null = null;

  constructor(parts: PartsWithAccounts, request: Request, address: () => string | null) {
    this.#parts = parts;
    this.#request = request;
    this.#address = address;
  }

  get session(): RequestSession {
    return (this.#session ??= this.#parts.sessions.of(this.#request));
  }

  get auth(): Auth {
    return (this.#auth ??= createAuth(this.session, this.#parts.accounts, this.csrf));
  }

  get csrf(): CsrfTokens {
    const { cookies, takesDpop } = this.#parts;
    return (this.#csrf ??= createCsrfTokens({
      request: this.#request,
      session: this.session,
      cookies,
      takesDpop,
    }));
  }

  get knownBrowser(): KnownBrowser {
    return (this.#knownBrowser ??= this.#parts.knownBrowsers.of(this.#request));
  }

  get clientAddress(): string | null {
    return this.#address();
  }

  get requestId(): string {
    return requestIdOf(this.#request);
  }

  setCookies(): readonly string[] {
    if (this.#session === null && this.#csrf === null && this.#knownBrowser === null) return NONE;
    const cookies = [this.#session, this.#csrf, this.#knownBrowser].map((each) => each?.setCookie());
    return cookies.filter((cookie) => typeof cookie === 'string');
  }
}

class ContextWithoutAccounts implements RequestContext {
  readonly session = null;
  readonly auth = null;
  readonly csrf = null;
  readonly knownBrowser = null;
  readonly #request: Request;
  readonly #address: () => string | null;

  constructor(request: Request, address: () => string | null) {
    this.#request = request;
    this.#address = address;
  }

  get clientAddress(): string | null {
    return this.#address();
  }

  get requestId(): string {
    return requestIdOf(this.#request);
  }

  setCookies(): readonly string[] {
    return [];
  }
}
