import type { Events, PersonReference, UserInterface } from 'portico';
import {
  type AttemptKey,
  currentRequestId,
  Event,
  type FailedAttempts,
  findNetwork,
  runAsCaller,
} from 'portico/extension';
import type { Log } from '@portico/sql';
import type { Accounts } from '../contracts.ts';
import { HttpError } from '../errors.ts';
import { createHash, randomUUID } from 'node:crypto';
import { currentAddress, currentBrowser } from './request-context.ts';

/** The payload of `Event.SIGN_IN_FAILED` and `Event.SIGN_IN_SLOWED`. */
export interface FailedSignIn {
  /**
   * The account that the user tried to sign in to. Null if no account has the typed identifier, if
   * the provider does not report the account, and for `SIGN_IN_SLOWED`. The event does not contain
   * the identifier, because users sometimes type their password into the wrong field.
   */
  readonly person: PersonReference | null;
  /** The client's address, or null if it is unknown. */
  readonly address: string | null;
  /** The id of the request in the log, or null outside a request. */
  readonly requestId: string | null;
}

/**
 * Thrown if too many sign-ins have failed. The password was not checked. The response has the
 * status 429.
 *
 * @example
 * if (error instanceof SignInSlowedError) return waitPage(error.retryAfter);
 */
export class SignInSlowedError extends HttpError {
  /** How many seconds the client must wait. */
  readonly retryAfter: number;

  /** `wait` is in milliseconds. It is rounded up to whole seconds. */
  constructor(wait: number) {
    const retryAfter = Math.ceil(wait / 1000);
    super(429, 'Too many failed sign-ins', { 'Retry-After': String(retryAfter) });
    this.retryAfter = retryAfter;
  }
}

/**
 * How many failed sign-ins from one network the kit allows before it slows down further ones.
 * `account` is the number for each account, and `network` is the number for all accounts together.
 */
const FREE_FAILURES = { account: 5, network: 50 } as const;

/**
 * Slows down password guessing, and emits events about failed sign-ins. Applies to the kit's
 * sign-in page and to an application's own page. `docs/decisions/0007` explains how this works, and
 * why users are never locked out.
 */
export function guardSignIn(
  accounts: Accounts,
  failedAttempts: FailedAttempts,
  events: Events,
  log: Log,
): Accounts {
  async function authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null> {
    const address = currentAddress();
    const browser = currentBrowser();
    const account = accountKey(identifier);
    const isKnown = (await browser?.knows(account)) ?? false;
    const { keys, caller } = isKnown
      ? countedByBrowser(account, address)
      : countedByNetwork(accountKey(normalized(identifier)), address);
    let person: PersonReference | null = null;
    // Never pass an empty password to the provider, because it might accept it. Check a random
    // password instead.
    const offered = password === '' ? randomUUID() : password;
    const check = () =>
      accounts.authenticate(identifier, offered, (named) => {
        person = named;
        names?.(named);
      });
    const attempt = await failedAttempts.attempt(keys, () => runAsCaller(caller, check));
    if (attempt.outcome === 'right') {
      await browser?.remember(account);
      return attempt.value;
    }
    const failed: FailedSignIn = { person, address, requestId: currentRequestId() };
    if (attempt.outcome === 'wrong') {
      log.info('A sign-in from {address} failed', { ...failed });
      await events.emit(Event.SIGN_IN_FAILED, failed);
      return null;
    }
    if (attempt.first) {
      log.warning('Many sign-ins from {address} failed; further sign-ins are slowed down', {
        ...failed,
      });
      await events.emit(Event.SIGN_IN_SLOWED, failed);
    }
    throw new SignInSlowedError(attempt.wait);
  }
  return { ...accounts, authenticate };
}

/**
 * How many characters of an identifier are normalized. No account has a longer identifier, and the
 * time for normalizing a text can grow with the square of its length.
 */
const MOST_NORMALIZED = 1000;

function normalized(identifier: string): string {
  const text = identifier.trim();
  const [start, rest] = [text.slice(0, MOST_NORMALIZED), text.slice(MOST_NORMALIZED)];
  return `${start.normalize('NFKC')}${rest}`;
}

/**
 * Returns the key under which attempts on an account are counted. The key is a hash, because users
 * sometimes type their password into the wrong field. Letter case and spaces at the ends do not
 * matter.
 *
 * Providers may treat similar characters as equal (NFKC) or not. For the counts of networks, they
 * are equal. For known browsers, they are not. Otherwise, a browser in which a user signed in to a
 * look-alike account would also be known for the real account.
 */
function accountKey(identifier: string): string {
  const spelled = identifier.trim().toLowerCase();
  return createHash('sha256').update(spelled).digest('base64url');
}

/** The keys under which an attempt is counted, and the caller in whose queue it waits. */
interface Counted {
  readonly keys: readonly AttemptKey[];
  readonly caller: string | null;
}

function countedByNetwork(account: string, address: string | null): Counted {
  const network = findNetwork(address);
  return {
    keys: [
      { key: JSON.stringify([account, network]), free: FREE_FAILURES.account },
      { key: JSON.stringify([network]), free: FREE_FAILURES.network },
    ],
    caller: network,
  };
}

/**
 * Counts the attempts from all known browsers of an account together, and separately from other
 * attempts, so that other users on the same network cannot slow them down.
 */
function countedByBrowser(account: string, address: string | null): Counted {
  const known = JSON.stringify(['known', account]);
  return {
    keys: [{ key: known, free: FREE_FAILURES.account }],
    // Use one queue for each network. Otherwise, a network that uses many accounts would get many
    // turns.
    caller: JSON.stringify(['known', findNetwork(address)]),
  };
}
