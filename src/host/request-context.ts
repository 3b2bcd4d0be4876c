import { AsyncLocalStorage } from 'node:async_hooks';
import type { Auth, Session } from './contracts.ts';
import type { CsrfTokens } from './csrf.ts';
import type { KnownBrowser } from './known-browsers.ts';

/** What belongs to the request being answered. */
export interface RequestContext {
  /** Null in an application without accounts, as are `auth`, `csrf` and `knownBrowser`. */
  readonly session: Session | null;
  readonly auth: Auth | null;
  readonly csrf: CsrfTokens | null;
  readonly knownBrowser: KnownBrowser | null;
  readonly clientAddress: string | null;
  /** What the log and the answer call the request. */
  readonly requestId: string;
}

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs the work with this context at hand, in everything it awaits too. */
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
export function addressAtHand(): string | null {
  return requests.getStore()?.clientAddress ?? null;
}

/** What the request being answered is called; null outside of one. */
export function requestIdAtHand(): string | null {
  return requests.getStore()?.requestId ?? null;
}

/** The browser that sent the request being answered; null outside of a request, and in an application without accounts. */
export function browserAtHand(): KnownBrowser | null {
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
