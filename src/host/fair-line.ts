import { OverloadedError } from '../contracts/errors.ts';

/** A line in which networks take turns. */
export interface FairLine {
  /** Does the work when its turn comes; rejects with an OverloadedError when too much waits. */
  <T>(network: string | null, work: () => Promise<T>): Promise<T>;
}

export interface FairLineOptions {
  /** What is served at once. */
  readonly atOnce: number;
  /** What may wait, in all. */
  readonly mostWaiting: number;
  /** What may wait of one network. */
  readonly mostOfOne: number;
}

interface Turn {
  readonly begin: () => void;
  readonly refuse: (error: OverloadedError) => void;
}

/**
 * A flood from one network waits behind itself: each network that has something waiting is served once before any is served
 * again. When the line is full, the network that fills most of it loses its last place to one that has fewer.
 */
export function createFairLine({ atOnce, mostWaiting, mostOfOne }: FairLineOptions): FairLine {
  /** By network; the one that is served next stands first. */
  const waiting = new Map<string | null, Turn[]>();
  let waitingInAll = 0;
  let inFlight = 0;

  function turnOf(network: string | null): Promise<void> {
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
    else await turnOf(network);
    try {
      return await work();
    } finally {
      // The place goes to the next in turn, or is given back.
      next();
    }
  };
}
