import type { Visitor } from '../../host/accounts.ts';
import { FailedAttempts, type Attempt } from '../../http/failed-attempts.ts';

/** Wrong codes in a quarter of an hour before a user must wait. */
const FREE = 10;
/**
 * Replaces the random numbers of `FailedAttempts`. A user who must wait can never try early. Users
 * can slow down only themselves, so this is safe.
 */
const NEVER = () => 1;

/** Slows down a user who guesses codes (RFC 8628 section 5.1). */
export class Guesses {
  readonly #attempts: FailedAttempts;

  constructor(clock: () => number) {
    this.#attempts = new FailedAttempts(clock, NEVER);
  }

  /** Calls `find`, unless this user must wait. Counts a wrong code if `find` returns null. */
  attempt<T>({ user }: Visitor, find: () => Promise<T | null>): Promise<Attempt<T>> {
    const { provider, id } = user.reference;
    return this.#attempts.attempt([{ key: JSON.stringify([provider, id]), free: FREE }], find);
  }
}
