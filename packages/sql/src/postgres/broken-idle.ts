import type { Log } from '../log.ts';

/** What a pool of `pg` is as an emitter of events. */
interface Emitter {
  listenerCount(event: 'error'): number;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** Where the pools are reported that have a listener of ours: in the log that was given last. */
const logs = new WeakMap<object, Log | null>();

/**
 * A pool of `pg` without an `error` listener ends the process when a connection breaks that nothing uses. Such a pool gets one, which
 * leaves the report to a listener that the application adds later.
 */
export function surviveBrokenIdle(pool: object, log: Log | null): void {
  if (logs.has(pool)) {
    if (log !== null) logs.set(pool, log);
    return;
  }
  if (!isEmitter(pool) || pool.listenerCount('error') > 0) return;
  logs.set(pool, log);
  pool.on('error', (error) => {
    if (pool.listenerCount('error') === 1) report(error, logs.get(pool) ?? null);
  });
}

function isEmitter(pool: object): pool is Emitter {
  const { on, listenerCount } = pool as Partial<Emitter>;
  return typeof on === 'function' && typeof listenerCount === 'function';
}

/** The driver adds the connection to its error, so only the message is written. */
function report(error: unknown, log: Log | null): void {
  const reason = error instanceof Error ? error.message : 'unknown';
  if (log === null) process.emitWarning(message(reason), 'PorticoWarning');
  else log.warning(message('{reason}'), { reason });
}

const message = (reason: string) =>
  `An idle connection of the application's pool broke: ${reason}. The pool opens another one; ` +
  "add pool.on('error', …) to report this yourself";
