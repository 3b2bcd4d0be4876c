import type { Timer } from './opened.ts';
import { noConnection } from './failures.ts';

/** How long a request waits for a connection from a driver's pool, in milliseconds. */
const LONGEST_WAIT = 5000;
/**
 * The maximum number of requests that may wait for a connection. Portico rejects further requests,
 * because it cannot remove a request from the driver's queue.
 */
const MOST_WAITING = 1000;

/**
 * Borrows connections from a driver's pool. Counts the connections in use, and reports when all of
 * them have been returned.
 */
export class Borrowing<Client> {
  readonly #timer: Timer;
  readonly #take: () => Promise<Client>;
  readonly #giveBack: (client: Client) => void;
  #waiting = 0;
  #out = 0;
  #onAllBack: (() => void)[] = [];

  /**
   * `take` takes a connection from the pool. `giveBack` returns an unused connection to the pool.
   */
  constructor(timer: Timer, take: () => Promise<Client>, giveBack: (client: Client) => void) {
    this.#timer = timer;
    this.#take = take;
    this.#giveBack = giveBack;
  }

  /**
   * Takes a connection. Rejects as unavailable if the pool provides none within the time limit. If
   * a connection arrives later, returns it to the pool immediately.
   */
  take(): Promise<Client> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.reject(
        noConnection('Too many operations are waiting for a connection from the pool'),
      );
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const stop = this.#timer.after(LONGEST_WAIT, () => {
        isLate = true;
        reject(noConnection('The pool did not provide a connection in time'));
      });
      void settle(this.#take()).then((taken) => {
        this.#waiting -= 1;
        stop();
        if ('error' in taken) reject(taken.error);
        else if (isLate) this.#giveBack(taken.client);
        else {
          this.#out += 1;
          resolve(taken.client);
        }
        return taken;
      });
    });
  }

  /** Records that a connection was returned to the pool. Call it once for each connection. */
  isBack(): void {
    this.#out -= 1;
    if (this.#out > 0) return;
    for (const done of this.#onAllBack) done();
    this.#onAllBack = [];
  }

  /** Resolves when no connection is in use. */
  allBack(): Promise<void> {
    return this.#out === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#onAllBack.push(resolve));
  }
}

function settle<Client>(
  taking: Promise<Client>,
): Promise<{ readonly client: Client } | { readonly error: unknown }> {
  return taking.then(
    (client) => ({ client }),
    (error: unknown) => ({ error }),
  );
}
