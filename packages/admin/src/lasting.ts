import type { Log } from 'portico';

/** How long a page waits for an action that may take a long time, in milliseconds. */
const PATIENCE = 3000;

/**
 * Waits at most `patience` milliseconds for the work to finish. Returns true if it finishes in
 * time, and throws if it fails in time. Otherwise, returns false. The work then continues in the
 * background, and a later failure is logged.
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
