import { runForNoRequest } from './context.ts';

const BETWEEN = 1000;

/**
 * Logs the first event immediately, then at most one line per second. Each line gives the number of
 * events since the previous one. Use it for events that occur thousands of times a second.
 */
export function throttleLog(log: (times: number) => void): () => void {
  let pausing = false;
  let unlogged = 0;

  function logAndPause(times: number): void {
    pausing = true;
    // The next line covers several requests, so log it outside the current request.
    runForNoRequest(() =>
      setTimeout(() => {
        pausing = false;
        if (unlogged > 0) logAndPause(unlogged);
      }, BETWEEN),
    ).unref();
    unlogged = 0;
    log(times);
  }

  return () => {
    if (pausing) unlogged += 1;
    else logAndPause(1);
  };
}
