import type { Log } from 'portico';

/** How long a page waits for work that may take a long time, in milliseconds. */
const PATIENCE = 3000;

/**
 * Waits for the work for at most `patience` milliseconds. Returns true if the work ends in this
 * time, and throws if it fails in this time. Otherwise returns false, and the work continues in the
 * background. If it fails later, the error is logged.
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
        log.error('{what} continued after the response and failed: {exception}', {
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
