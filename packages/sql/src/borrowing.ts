import type { Timer } from './opened.ts';
import { noConnection } from './failures.ts';

/** How long a request waits for a connection of the application's pool, in milliseconds. */
const LONGEST_WAIT = 5000;
/**
 * How many requests may wait for a connection. The next one is refused, because a request cannot
 * leave the queue of such a pool.
 */
const MOST_WAITING = 1000;

/**
 * Takes connections from the application's pool, counts those in use, and tells when all are back.
 */
export class Borrowing<Client> {
  readonly #timer: Timer;
  readonly #take: () => Promise<Client>;
  readonly #giveBack: (client: Client) => void;
  #waiting = 0;
  #out = 0;
  #onAllBack: (() => void)[] = [];

  /** `take` asks the pool for a connection; `giveBack` returns one that was not used. */
  constructor(timer: Timer, take: () => Promise<Client>, giveBack: (client: Client) => void) {
    this.#timer = timer;
    this.#take = take;
    this.#giveBack = giveBack;
  }

  /**
   * Rejects as unavailable when no connection comes in time. One that comes later goes straight
   * back.
   */
  take(): Promise<Client> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.reject(noConnection("Too many wait for a connection of the application's pool"));
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const stop = this.#timer.after(LONGEST_WAIT, () => {
        isLate = true;
        reject(noConnection("The application's pool had no connection in time"));
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

  /** Call this once for each connection taken, when the pool has it back. */
  isBack(): void {
    this.#out -= 1;
    if (this.#out > 0) return;
    for (const done of this.#onAllBack) done();
    this.#onAllBack = [];
  }

  /** Resolves when no connection is in use. */
  allBack(): Promise<void> {
    return this.#out === 0 ? Promise.resolve() : new Promise((resolve) => this.#onAllBack.push(resolve));
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
