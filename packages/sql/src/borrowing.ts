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
export interface Borrowing<Client> {
  /**
   * Rejects as unavailable when no connection comes in time. One that comes later goes straight
   * back.
   */
  take(): Promise<Client>;
  /** Call this once for each connection taken, when the pool has it back. */
  isBack(): void;
  /** Resolves when no connection is in use. */
  allBack(): Promise<void>;
}

/** `take` asks the pool for a connection; `giveBack` returns one that was not used. */
export function createBorrowing<Client>(
  timer: Timer,
  take: () => Promise<Client>,
  giveBack: (client: Client) => void,
): Borrowing<Client> {
  let waiting = 0;
  let out = 0;
  let onAllBack: (() => void)[] = [];
  return {
    take() {
      if (waiting >= MOST_WAITING)
        return Promise.reject(noConnection("Too many wait for a connection of the application's pool"));
      waiting += 1;
      return new Promise((resolve, reject) => {
        let isLate = false;
        const stop = timer.after(LONGEST_WAIT, () => {
          isLate = true;
          reject(noConnection("The application's pool had no connection in time"));
        });
        void settle(take()).then((taken) => {
          waiting -= 1;
          stop();
          if ('error' in taken) reject(taken.error);
          else if (isLate) giveBack(taken.client);
          else {
            out += 1;
            resolve(taken.client);
          }
          return taken;
        });
      });
    },
    isBack() {
      out -= 1;
      if (out > 0) return;
      for (const done of onAllBack) done();
      onAllBack = [];
    },
    allBack: () => (out === 0 ? Promise.resolve() : new Promise((resolve) => onAllBack.push(resolve))),
  };
}

function settle<Client>(
  taking: Promise<Client>,
): Promise<{ readonly client: Client } | { readonly error: unknown }> {
  return taking.then(
    (client) => ({ client }),
    (error: unknown) => ({ error }),
  );
}
