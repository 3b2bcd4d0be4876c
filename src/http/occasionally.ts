const BETWEEN = 1000;

/**
 * For a line of the log about what may happen thousands of times a second: tells of it at once, and of what follows at most
 * once a second, with how many they were.
 */
export function occasionally(tell: (times: number) => void): () => void {
  let pausing = false;
  let untold = 0;

  function tellAndPause(times: number): void {
    pausing = true;
    setTimeout(() => {
      pausing = false;
      if (untold > 0) tellAndPause(untold);
    }, BETWEEN).unref();
    untold = 0;
    tell(times);
  }

  return () => {
    if (pausing) untold += 1;
    else tellAndPause(1);
  };
}
