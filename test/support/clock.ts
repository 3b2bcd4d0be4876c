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

/** A clock whose time can be compared with the times on a page. */
export interface PageClock extends ReturnType<typeof createClock> {
  /** Returns the time so many seconds from now, as pages show it. */
  readonly minute: (later?: number) => string;
}

/**
 * Creates a clock that begins in the middle of a minute. Pages show minutes, so the few
 * milliseconds between two steps of a test do not change what they show.
 */
export function createPageClock(): PageClock {
  const clock = createClock();
  clock.advance((90 - ((clock.now() / 1000) % 60)) % 60);
  return {
    ...clock,
    minute: (later = 0) =>
      `${new Date(clock.now() + later * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  };
}
