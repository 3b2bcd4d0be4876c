import type { Accounts, Auth, Session } from '../contracts.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { RequestAuth } from './auth.ts';
import { CsrfTokens } from './csrf.ts';
import type { CookieScope } from '../http/cookies.ts';
import type { KnownBrowser, KnownBrowsers } from './known-browsers.ts';
import type { RequestSession, Sessions } from './sessions.ts';

/** The objects that all requests share in an application with accounts. */
export interface PeopleParts {
  readonly sessions: Sessions;
  readonly knownBrowsers: KnownBrowsers;
  readonly accounts: Accounts;
  readonly cookies: CookieScope;
  /** The `Authorization` schemes of access tokens besides Bearer, for example DPoP. */
  readonly tokenSchemes: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * The session, user, CSRF tokens and client address of the current request. Each object is created
 * on first use, because most requests use none of them.
 */
export class RequestContext {
  readonly #parts: PeopleParts | null;
  readonly #request: Request;
  readonly #address: () => string | null;
  #session: RequestSession | null = null;
  #csrf: CsrfTokens | null = null;
  #knownBrowser: KnownBrowser | null = null;
  #auth: Auth | null = null;

  /**
   * `parts` is null in an application without accounts. In this case, `session`, `auth`, `csrf` and
   * `knownBrowser` are also null. `address` returns the client's address. It is called only when
   * the address is needed.
   */
  constructor(parts: PeopleParts | null, request: Request, address: () => string | null) {
    this.#parts = parts;
    this.#request = request;
    this.#address = address;
  }

  get session(): RequestSession | null {
    return (this.#session ??= this.#parts?.sessions.of(this.#request) ?? null);
  }

  get csrf(): CsrfTokens | null {
    const { session } = this;
    if (this.#parts === null || session === null) return null;
    const { cookies, tokenSchemes } = this.#parts;
    return (this.#csrf ??= new CsrfTokens(this.#request, session, cookies, tokenSchemes));
  }

  get auth(): Auth | null {
    const { session, csrf } = this;
    if (this.#parts === null || session === null || csrf === null) return null;
    return (this.#auth ??= new RequestAuth(session, this.#parts.accounts, csrf));
  }

  get knownBrowser(): KnownBrowser | null {
    return (this.#knownBrowser ??= this.#parts?.knownBrowsers.of(this.#request) ?? null);
  }

  get clientAddress(): string | null {
    return this.#address();
  }

  /** Returns the `Set-Cookie` headers to add to the response. */
  setCookies(): readonly string[] {
    if (this.#session === null && this.#knownBrowser === null) return NONE;
    const cookies = [this.#session, this.#csrf, this.#knownBrowser].map((each) =>
      each?.setCookie(),
    );
    return cookies.filter((cookie) => typeof cookie === 'string');
  }
}

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs `work` in this context. Everything that `work` awaits also runs in this context. */
export function runWithContext<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
  return requests.run(context, work);
}

/**
 * Returns the session of the current request. Throws outside a request, or if the application has
 * no accounts.
 *
 * @example
 * await session().set('cart', [...cart, item]);
 */
export function session(): Session {
  return current('session()').session ?? refuse('session()');
}

/**
 * Returns the object with which you can find the signed-in user, and sign users in and out. Throws
 * outside a request, or if the application has no accounts.
 *
 * @example
 * const user = await auth().user();
 */
export function auth(): Auth {
  return current('auth()').auth ?? refuse('auth()');
}

/**
 * Returns the CSRF tokens of the browser that sent the current request. Throws outside a request,
 * or if the application has no accounts.
 */
export function csrfTokens(): CsrfTokens {
  return current('csrfTokens()').csrf ?? refuse('csrfTokens()');
}

/**
 * Returns the client's address for the current request, or null if it is unknown. Throws outside a
 * request.
 */
export function clientAddress(): string | null {
  return current('clientAddress()').clientAddress;
}

/** Like `clientAddress()`, but returns null outside a request instead of throwing. */
export function currentAddress(): string | null {
  return requests.getStore()?.clientAddress ?? null;
}

/**
 * Returns the browser that sent the current request, with the accounts that were used in it.
 * Returns null outside a request, or if the application has no accounts.
 */
export function currentBrowser(): KnownBrowser | null {
  return requests.getStore()?.knownBrowser ?? null;
}

function current(call: string): RequestContext {
  return requests.getStore() ?? refuse(call);
}

function refuse(call: string): never {
  throw new Error(
    `${call} was called outside a request, or the application has no accounts. ` +
      'Call it in a route handler, and pass accounts to defineApplication()',
  );
}
