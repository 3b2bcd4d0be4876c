import type { Log } from 'portico';

/** How long a page waits for work that may take long, in milliseconds. */
const PATIENCE = 3000;

/**
 * Waits a few seconds for the work. Returns true if the work ended in this time, and throws if it
 * failed in this time. Otherwise returns false, and the work continues in the background. Later
 * errors are logged.
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
