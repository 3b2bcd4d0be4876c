import type { Pair } from './rows/row.ts';

/**
 * The difference between two classes, in nanoseconds. It is greater than zero if the first class
 * takes longer.
 */
export interface Estimate {
  readonly difference: number;
  /** Half of the width of the 99 % interval. */
  readonly margin: number;
  readonly pairs: number;
  /** The median duration of a request of the second class. */
  readonly takes: number;
}

/**
 * The share of the differences to leave out at each end. They come from other work of the machine
 * and from the garbage collector.
 */
const TRIMMED = 0.25;
/** The quantile of the normal distribution for 99 %. */
const QUANTILE = 2.576;

/**
 * Sends both requests many times. The order of each pair is random, so that order and drift affect
 * both requests equally.
 */
export async function timePairs(
  { requests }: Pair,
  send: (request: Request) => Promise<Response>,
  pairs: number,
): Promise<{ readonly differences: Float64Array; readonly times: Float64Array }> {
  const [differences, times] = [new Float64Array(pairs), new Float64Array(pairs)];
  async function time(request: Request): Promise<number> {
    const begun = process.hrtime.bigint();
    const response = await send(request);
    const taken = Number(process.hrtime.bigint() - begun);
    await response.body?.cancel();
    return taken;
  }
  for (let index = 0; index < pairs; index += 1) {
    const [one, other] = [requests[0](), requests[1]()];
    const isFirst = Math.random() < 0.5;
    const first = await time(isFirst ? one : other);
    const second = await time(isFirst ? other : one);
    differences[index] = isFirst ? first - second : second - first;
    times[index] = isFirst ? second : first;
  }
  return { differences, times };
}

/**
 * Returns the trimmed mean of the paired differences, with Yuen's interval from the winsorized
 * deviation. The order is random, so the differences are symmetric about zero if the classes take
 * the same time, whatever else runs on the machine.
 */
export function estimate(differences: Float64Array, times: Float64Array): Estimate {
  const sorted = Float64Array.from(differences).sort();
  const pairs = sorted.length;
  const cut = Math.floor(pairs * TRIMMED);
  const kept = sorted.subarray(cut, pairs - cut);
  const difference = kept.reduce((sum, each) => sum + each, 0) / kept.length;
  const [least, most] = [kept[0] ?? 0, kept.at(-1) ?? 0];
  const winsorized = sorted.map((each) => Math.min(Math.max(each, least), most));
  const mean = winsorized.reduce((sum, each) => sum + each, 0) / pairs;
  const squares = winsorized.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / (pairs - 1));
  const margin = (QUANTILE * deviation) / ((1 - 2 * TRIMMED) * Math.sqrt(pairs));
  const takes = Float64Array.from(times).sort()[Math.floor(pairs / 2)] ?? 0;
  return { difference, margin, pairs, takes };
}
