/** Creates a clock that stands still until the test moves it. */
export function createClock(): { now: () => number; advance: (seconds: number) => void } {
  let now = Date.now();
  return {
    now: () => now,
    advance(seconds) {
      now += seconds * 1000;
    },
  };
}

/**
 * Returns how many seconds after this time a minute is half over. Pages show minutes, so the few
 * milliseconds between two steps of a test do not change what they show then.
 */
export function secondsToHalfMinute(now: number): number {
  return (90 - ((now / 1000) % 60)) % 60;
}
