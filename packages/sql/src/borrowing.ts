import type { Timer } from './opened.ts';
import { noConnection } from './failures.ts';

/** How long a request waits for a connection of a pool of somebody else, in milliseconds. */
const LONGEST_WAIT = 5000;
/** How many wait for one before the next is refused: nobody can leave the queue of such a pool. */
const MOST_WAITING = 1000;

/** Connections of a pool of somebody else: how they are taken, how many are out, when the last is back. */
export interface Borrowing<Client> {
  /** Rejects as unavailable when there is none in time; one that comes later goes back at once. */
  take(): Promise<Client>;
  /** To be called once for each that was taken, when the pool has it back. */
  isBack(): void;
  /** Fulfilled when none is out. */
  allBack(): Promise<void>;
}

/** `take` asks the pool for a connection, `giveBack` returns one that was not used. */
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
