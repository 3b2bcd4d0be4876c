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
