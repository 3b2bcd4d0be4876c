const FIRST = 1000;
const LONGEST = 300_000;

/**
 * Returns the wait after this many consecutive failures, in milliseconds: one second after the
 * first failure, twice as long after each further one, up to five minutes. `random` (0 to 1)
 * changes the wait by up to a quarter, so processes do not all try at the same time.
 */
export function backoff(failures: number, random: number): number {
  const plain = Math.min(FIRST * 2 ** Math.min(failures - 1, 20), LONGEST);
  return Math.round(plain * (0.75 + random / 2));
}
