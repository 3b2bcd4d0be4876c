import type { Visitor } from '../../host/accounts.ts';
import { FailedAttempts, type Attempt } from '../../http/failed-attempts.ts';

/** How many wrong codes a user can send in a quarter of an hour before they must wait. */
const FREE = 10;
/**
 * Replaces the random numbers of `FailedAttempts`, so that a user who must wait can never try
 * early. This is safe, because users can slow down only themselves.
 */
const NEVER = () => 1;

/** Slows down a user who guesses codes (RFC 8628 section 5.1). */
export class Guesses {
  readonly #attempts: FailedAttempts;

  /** `clock` returns the current time in milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#attempts = new FailedAttempts(clock, NEVER);
  }

  /** Calls `find`, unless this user must wait. If `find` returns null, counts a wrong code. */
  attempt<T>({ user }: Visitor, find: () => Promise<T | null>): Promise<Attempt<T>> {
    const { provider, id } = user.reference;
    return this.#attempts.attempt([{ key: JSON.stringify([provider, id]), free: FREE }], find);
  }
}
