/** Numbers that look random, and are the same again for the same seed. */
export interface Random {
  /** From 0 to below `limit`. */
  below(limit: number): number;
  /** Once in so many times. */
  oneIn(times: number): boolean;
  pick<T>(from: readonly T[]): T | undefined;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  const below = (limit: number) => {
    // mulberry32
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
