import { isPromise } from 'node:util/types';
import { isBearerRequest } from '../http/bearer.ts';
import { personProblem, type PersonReference, type UserInterface } from '../person.ts';
import type { CompleteHost } from './host.ts';

/** The person who is signed in to the browser that sent a request. */
export interface Visitor {
  readonly user: UserInterface;
  /** Binds the person's consent to this browser. See `Host.browserSecret`. */
  readonly browserSecret: string;
  /** When the server began to ask the host for the person, in milliseconds since 1970. */
  readonly readAt: number;
  /** The request that the browser sent. */
  readonly request: Request;
}

/** The minimum length of the secret, in characters. 128 bits need 22 base64url characters. */
const SHORTEST_SECRET = 22;

/** Reads accounts from the host. An account that may no longer sign in counts as missing. */
export class Accounts {
  readonly #host: CompleteHost;
  readonly #clock: () => number;
  readonly #tokenSchemes: readonly string[];

  /** `tokenSchemes` are the `Authorization` schemes for access tokens other than `Bearer`. */
  constructor(host: CompleteHost, clock: () => number, tokenSchemes: readonly string[]) {
    this.#host = host;
    this.#clock = clock;
    this.#tokenSchemes = tokenSchemes;
  }

  /** Returns the person's account, or null if it does not exist or may no longer sign in. */
  async active(person: PersonReference): Promise<UserInterface | null> {
    const user = await this.#host.loadAccount(person);
    return user !== null && isYes(user.isActive()) ? user : null;
  }

  /**
   * Returns the person who is signed in to the browser, or null. A request with an access token has
   * no visitor.
   */
  async visitor(request: Request): Promise<Visitor | null> {
    if (isBearerRequest(request, this.#tokenSchemes)) return null;
    const readAt = this.#clock();
    const person = await this.#host.signedIn(request);
    if (person !== null) requireStorable('signedIn', person);
    const user = person === null ? null : await this.active(person);
    if (user === null) return null;
    requireStorable('loadAccount', user.reference);
    const browserSecret = await this.#browserSecret(request, user.reference);
    return { user, browserSecret, readAt, request };
  }

  /**
   * Throws if the secret is too short. An attacker could guess it and use the person's consent in
   * another browser.
   */
  async #browserSecret(request: Request, person: PersonReference): Promise<string> {
    const secret: unknown = await this.#host.browserSecret(request, person);
    if (typeof secret === 'string' && secret.length >= SHORTEST_SECRET) return secret;
    const found = typeof secret === 'string' ? `${secret.length} characters` : typeof secret;
    throw new Error(
      'Host.browserSecret must return a random secret of this browser session with at least ' +
        `${SHORTEST_SECRET} characters ` +
        `(128 bits in base64url). It returned ${found}`,
    );
  }
}

/**
 * Throws if the store cannot save this reference unchanged. A changed reference could identify
 * another person.
 */
function requireStorable(member: string, person: PersonReference): void {
  const problem = personProblem(person);
  if (problem !== null)
    throw new Error(`Host.${member} returned a person that cannot be stored: ${problem}`);
}

/**
 * Returns true for `true`, and for 1, which SQLite and MariaDB store for `true`. Any other value
 * means no, for example a promise, a list of rows or a string.
 */
export function isYes(answer: unknown): boolean {
  // An unhandled rejection would end the process.
  if (isPromise(answer)) answer.catch(() => {});
  return answer === true || answer === 1 || answer === 1n;
}
