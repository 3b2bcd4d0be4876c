import type { Log } from '@portico/sql';

/** For how long a page waits for what may last, in milliseconds. */
const PATIENCE = 3000;

/**
 * Whether the work is done within some seconds. If not it goes on without the request, and the log gets what goes wrong then; what goes
 * wrong before is thrown.
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
        log.error('{what} went on behind an answered request and failed: {exception}', { what, exception });
      });
    }
    return isDone;
  } finally {
    clearTimeout(timer);
  }
}
