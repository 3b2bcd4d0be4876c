import { isYes } from './contracts/answers.ts';
import { personProblem, type PersonReference, type UserInterface } from './contracts/person.ts';
import type { CompleteHost } from './host.ts';

/** The person at the browser that sent a request. */
export interface Visitor {
  readonly user: UserInterface;
  /** What consent is bound to: see `Host.browserSecret`. */
  readonly browserSecret: string;
  /** For lines of the log. */
  readonly request: Request;
}

/** 128 bits in base64url. */
const SHORTEST_SECRET = 22;

/**
 * The host's accounts, as the server uses them: one that may no longer sign in counts as absent.
 */
export class Accounts {
  readonly #host: CompleteHost;

  constructor(host: CompleteHost) {
    this.#host = host;
  }

  /**
   * The account of this person as it is now; null if it does not exist or may no longer sign in.
   */
  async active(person: PersonReference): Promise<UserInterface | null> {
    const user = await this.#host.loadAccount(person);
    return user !== null && isYes(user.isActive()) ? user : null;
  }

  /** The person who is signed in in the browser that sent this request, or null. */
  async visitor(request: Request): Promise<Visitor | null> {
    const person = await this.#host.signedIn(request);
    if (person !== null) requireStorable('signedIn', person);
    const user = person === null ? null : await this.active(person);
    if (user === null) return null;
    requireStorable('loadAccount', user.reference);
    return { user, browserSecret: await this.#browserSecret(request, user.reference), request };
  }

  /**
   * A secret that can be guessed, or is the same in every browser, does not bind a consent to one
   * browser.
   */
  async #browserSecret(request: Request, person: PersonReference): Promise<string> {
    const secret: unknown = await this.#host.browserSecret(request, person);
    if (typeof secret === 'string' && secret.length >= SHORTEST_SECRET) return secret;
    const found = typeof secret === 'string' ? `${secret.length} characters` : typeof secret;
    throw new Error(
      `Host.browserSecret must answer a random secret of this browser session, at least ${SHORTEST_SECRET} characters ` +
        `(128 bits in base64url); it answered ${found}`,
    );
  }
}

/** The stored reference to a person must lead to that person again, and to no other. */
function requireStorable(member: string, person: PersonReference): void {
  const problem = personProblem(person);
  if (problem !== null)
    throw new Error(`Host.${member} answered a person whom no store can keep: ${problem}`);
}
