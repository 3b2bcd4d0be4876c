import type { Log } from 'portico';

/** How long a page waits for long work, in milliseconds. */
const PATIENCE = 3000;

/**
 * Whether the work ends within a few seconds. Throws if it fails within this time. Otherwise it
 * continues in the background, and later errors are logged.
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
