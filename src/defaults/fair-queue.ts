import { OverloadedError } from '../contracts/errors.ts';

/** A queue in which networks take turns. */
export interface FairQueue {
  /** Runs the work when its turn comes; rejects with an OverloadedError when too much waits. */
  <T>(network: string | null, work: () => Promise<T>): Promise<T>;
}

export interface FairQueueOptions {
  /** How many run at once. */
  readonly atOnce: number;
  /** How many may wait, in all. */
  readonly mostWaiting: number;
  /** How many may wait of one network. */
  readonly mostOfOne: number;
}

interface Turn {
  readonly begin: () => void;
  readonly refuse: (error: OverloadedError) => void;
}

/**
 * Round robin: each network that has something waiting is served once before any is served again, so a flood from one network
 * waits behind itself. When the queue is full, the network with most places loses its last one to a network with fewer.
 */
export function createFairQueue({ atOnce, mostWaiting, mostOfOne }: FairQueueOptions): FairQueue {
  /** By network, in the order of their turns. */
  const waiting = new Map<string | null, Turn[]>();
  let waitingInAll = 0;
  let inFlight = 0;

  function waitForTurn(network: string | null): Promise<void> {
    const own = waiting.get(network) ?? [];
    if (own.length >= mostOfOne) throw new OverloadedError();
    if (waitingInAll >= mostWaiting) makeRoomFor(own.length);
    return new Promise((begin, refuse) => {
      own.push({ begin, refuse });
      waiting.set(network, own);
      waitingInAll += 1;
    });
  }

  /** Refuses the last one of the largest share, if that is larger than the newcomer's would be. */
  function makeRoomFor(share: number): void {
    let largest: Turn[] = [];
    for (const turns of waiting.values()) if (turns.length > largest.length) largest = turns;
    if (largest.length <= share + 1) throw new OverloadedError();
    largest.pop()?.refuse(new OverloadedError());
    waitingInAll -= 1;
  }

  function next(): void {
    const [first] = waiting;
    if (first === undefined) {
      inFlight -= 1;
      return;
    }
    const [network, turns] = first;
    const turn = turns.shift();
    waiting.delete(network);
    if (turns.length > 0) waiting.set(network, turns);
    waitingInAll -= 1;
    turn?.begin();
  }

  return async (network, work) => {
    if (inFlight < atOnce) inFlight += 1;
    else await waitForTurn(network);
    try {
      return await work();
    } finally {
      next();
    }
  };
}
