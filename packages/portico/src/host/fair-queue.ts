import { OverloadedError } from '@portico/sql';

export interface QueueSizes {
  /** How many tasks can run at the same time. */
  readonly atOnce: number;
  /** How many tasks of all networks can wait. */
  readonly mostWaiting: number;
  /** How many tasks of one network can wait. */
  readonly mostOfOne: number;
}

interface Turn {
  readonly begin: () => void;
  readonly refuse: (error: OverloadedError) => void;
}

/**
 * A queue in which networks take turns. Each waiting network gets one turn before any network gets
 * a second. So many requests from one network delay only that network.
 *
 * In a full queue, a network with fewer waiting tasks can still add one. The queue then rejects the
 * last task of the network with the most.
 */
export class FairQueue {
  readonly #sizes: QueueSizes;
  /** The waiting tasks of each network. The first network has the next turn. */
  readonly #waiting = new Map<string | null, Turn[]>();
  #waitingInAll = 0;
  #inFlight = 0;

  constructor(sizes: QueueSizes) {
    this.#sizes = sizes;
  }

  /**
   * Runs `work` when the network has its turn. Rejects with an OverloadedError if too many tasks
   * wait.
   */
  async run<T>(network: string | null, work: () => Promise<T>): Promise<T> {
    if (this.#inFlight < this.#sizes.atOnce) this.#inFlight += 1;
    else await this.#waitForTurn(network);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #waitForTurn(network: string | null): Promise<void> {
    const own = this.#waiting.get(network) ?? [];
    if (own.length >= this.#sizes.mostOfOne) throw new OverloadedError();
    if (this.#waitingInAll >= this.#sizes.mostWaiting) this.#makeRoomFor(own.length);
    return new Promise((begin, refuse) => {
      own.push({ begin, refuse });
      this.#waiting.set(network, own);
      this.#waitingInAll += 1;
    });
  }

  /**
   * Rejects the last task of the network with the most waiting tasks. Throws an OverloadedError
   * instead if that network would then have fewer tasks than the new task's network. `share` is the
   * number of tasks that the new task's network has in the queue.
   */
  #makeRoomFor(share: number): void {
    let largest: Turn[] = [];
    for (const turns of this.#waiting.values()) if (turns.length > largest.length) largest = turns;
    if (largest.length <= share + 1) throw new OverloadedError();
    largest.pop()?.refuse(new OverloadedError());
    this.#waitingInAll -= 1;
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#inFlight -= 1;
      return;
    }
    const [network, turns] = first;
    const turn = turns.shift();
    this.#waiting.delete(network);
    if (turns.length > 0) this.#waiting.set(network, turns);
    this.#waitingInAll -= 1;
    turn?.begin();
  }
}
