import { listen } from '@portico/kit';
import { estimate, timePairs, type Estimate } from './measure.ts';
import { isImported } from './rows.ts';
import type { Row } from './rows/row.ts';
import { startWorld, type Hashing, type World } from './world.ts';

/** The result for a row. */
export interface Measured extends Estimate {
  /** Whether the whole interval is beyond the row's limit. */
  readonly isBeyond: boolean;
}

export interface RunOptions {
  readonly hashing?: Hashing;
  /** The number of pairs in the first round. */
  readonly pairs: number;
  /**
   * How many rounds must find the difference beyond the limit, on the same side, before the test
   * reports it. Each round has twice as many pairs as the round before.
   */
  readonly rounds: number;
  /** A round continues until the interval is at most this wide on each side, in nanoseconds. */
  readonly precision?: number;
  /** A round also ends after this many milliseconds. Default: no limit. */
  readonly during?: number;
  /**
   * Whether a round also ends when the interval is beyond the row's limit. Use this for a known
   * difference on a busy machine.
   */
  readonly untilBeyond?: boolean;
  /** Whether to send the requests over HTTP, through a socket of this machine. */
  readonly overHttp?: boolean;
}

/** The number of requests after which the compiler has optimized this path. */
const WARM_UP = 100;

/** Measures a row with a separate server. */
export async function measureRow(row: Row, options: RunOptions): Promise<Measured> {
  const world = await startWorld({
    hashing: options.hashing ?? 'none',
    takesImported: isImported(row),
  });
  try {
    return await measureIn(world, row, options);
  } finally {
    await world.close();
  }
}

/** Measures a row with an existing server. */
export async function measureIn(
  world: World,
  row: Row,
  options: Omit<RunOptions, 'hashing'>,
): Promise<Measured> {
  const { rounds, overHttp = false } = options;
  const door = overHttp ? await openDoor(world) : { send: world.send, close: async () => {} };
  try {
    const pair = await row.prepare(world);
    await timePairs(pair, door.send, WARM_UP);
    let before: Estimate | null = null;
    for (let round = 1; ; round += 1) {
      const found = await measureRound(
        (pairs) => timePairs(pair, door.send, pairs),
        options.pairs * 2 ** (round - 1),
        { ...options, limit: row.limit },
      );
      const isOtherSide: boolean = before !== null && before.difference * found.difference < 0;
      const isBeyond = !isOtherSide && liesBeyond(found, row.limit);
      if (!isBeyond || round === rounds) return { ...found, isBeyond };
      before = found;
    }
  } finally {
    await door.close();
  }
}

function liesBeyond({ difference, margin }: Estimate, limit: number): boolean {
  return Math.abs(difference) - margin > limit;
}

interface RoundOptions extends Pick<RunOptions, 'during' | 'precision' | 'untilBeyond'> {
  readonly limit: number;
}

async function measureRound(
  take: (pairs: number) => ReturnType<typeof timePairs>,
  pairs: number,
  { during = 0, precision = 0, untilBeyond = false, limit }: RoundOptions,
): Promise<Estimate> {
  const end = performance.now() + during;
  const [differences, times]: [number[], number[]] = [[], []];
  for (;;) {
    const taken = await take(pairs);
    differences.push(...taken.differences);
    times.push(...taken.times);
    const found = estimate(Float64Array.from(differences), Float64Array.from(times));
    if (performance.now() >= end || found.margin <= precision) return found;
    if (untilBeyond && liesBeyond(found, limit)) return found;
  }
}

async function openDoor({ application, url }: World) {
  const running = await listen(application, { port: 0, hostname: '127.0.0.1' });
  return {
    send(request: Request): Promise<Response> {
      const at = request.url.replace(url, `http://localhost:${running.port}`);
      // The request has its own headers, and the public address of the server.
      return fetch(new Request(at, request), { redirect: 'manual' });
    },
    close: () => running.close(),
  };
}
