import type { Log } from 'portico';

/** How long a page waits for work that may take a long time, in milliseconds. */
const PATIENCE = 3000;

/**
 * Waits at most `patience` milliseconds for the work. Returns true if the work has finished by
 * then, and throws if the work has failed. If the work takes longer, returns false, lets the work
 * continue in the background, and logs a later failure.
 */
export async function isDoneSoon(
  what: string,
  work: Promise<unknown>,
  { log, patience = PATIENCE }: { readonly log: Log; readonly patience?: number },
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, patience, false);
  });
  try {
    const isDone = await Promise.race([work.then(() => true), late]);
    if (!isDone) {
      work.catch((exception: unknown) => {
        log.error('{what} failed in the background, after the response: {exception}', {
          what,
          exception,
        });
      });
    }
    return isDone;
  } finally {
    clearTimeout(timer);
  }
}
