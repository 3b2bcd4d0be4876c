const FIRST = 1000;
const LONGEST = 300_000;

/**
 * Returns how long to wait after this many consecutive failures, in milliseconds. The wait is one
 * second after the first failure and doubles after each further failure, up to five minutes.
 * `random` (0 to 1) makes the wait up to a quarter longer or shorter, so that processes do not all
 * try at the same time.
 */
export function backoff(failures: number, random: number): number {
  const plain = Math.min(FIRST * 2 ** Math.min(failures - 1, 20), LONGEST);
  return Math.round(plain * (0.75 + random / 2));
}
