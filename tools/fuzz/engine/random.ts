/** Returns numbers that look random. For the same seed, they are always the same. */
export interface Random {
  /** Returns a number from 0 to below `limit`. */
  below(limit: number): number;
  /** Returns true once in this many calls, on average. */
  oneIn(times: number): boolean;
  pick<T>(from: readonly T[]): T | undefined;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  const below = (limit: number) => {
    // The algorithm mulberry32.
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (from) => from[below(from.length)],
  };
}
