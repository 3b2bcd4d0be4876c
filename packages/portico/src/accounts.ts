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

/**
 * The host's accounts, as the server uses them: one that may no longer sign in counts as absent.
 */
export interface Accounts {
  /**
   * The account of this person as it is now; null if it does not exist or may no longer sign in.
   */
  active(person: PersonReference): Promise<UserInterface | null>;
  /** The person who is signed in in the browser that sent this request, or null. */
  visitor(request: Request): Promise<Visitor | null>;
}

/** 128 bits in base64url. */
const SHORTEST_SECRET = 22;

export function createAccounts(
  host: Pick<CompleteHost, 'loadAccount' | 'signedIn' | 'browserSecret'>,
): Accounts {
  async function active(person: PersonReference): Promise<UserInterface | null> {
    const user = await host.loadAccount(person);
    return user !== null && isYes(user.isActive()) ? user : null;
  }

  /**
   * A secret that can be guessed, or is the same in every browser, does not bind a consent to one
   * browser.
   */
  async function browserSecret(request: Request, person: PersonReference): Promise<string> {
    const secret: unknown = await host.browserSecret(request, person);
    if (typeof secret === 'string' && secret.length >= SHORTEST_SECRET) return secret;
    const found = typeof secret === 'string' ? `${secret.length} characters` : typeof secret;
    throw new Error(
      `Host.browserSecret must answer a random secret of this browser session, at least ${SHORTEST_SECRET} characters ` +
        `(128 bits in base64url); it answered ${found}`,
    );
  }

  return {
    active,
    async visitor(request) {
      const person = await host.signedIn(request);
      if (person !== null) requireStorable('signedIn', person);
      const user = person === null ? null : await active(person);
      if (user === null) return null;
      requireStorable('loadAccount', user.reference);
      return { user, browserSecret: await browserSecret(request, user.reference), request };
    },
  };
}

/** The stored reference to a person must lead to that person again, and to no other. */
function requireStorable(member: string, person: PersonReference): void {
  const problem = personProblem(person);
  if (problem !== null)
    throw new Error(`Host.${member} answered a person whom no store can keep: ${problem}`);
}
