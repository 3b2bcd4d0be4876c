import type { Log } from '../log.ts';

/** The event methods of a `pg` pool. */
interface Emitter {
  listenerCount(event: 'error'): number;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/**
 * The pools that Portico added a listener to, each with its log. For a pool with several logs, the
 * last one is used.
 */
const logs = new WeakMap<object, Log | null>();

/**
 * Adds an `error` listener to a `pg` pool that has none. Without a listener, a broken idle
 * connection would end the process. If the application adds a listener later, Portico's listener no
 * longer reports anything.
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

/** Logs only the error's message, because the driver attaches the whole connection to the error. */
function report(error: unknown, log: Log | null): void {
  const reason = error instanceof Error ? error.message : 'unknown';
  if (log === null) process.emitWarning(message(reason), 'PorticoWarning');
  else log.warning(message('{reason}'), { reason });
}

const message = (reason: string) =>
  `An idle connection of the application's pool broke: ${reason}. The pool opens another one; ` +
  "add pool.on('error', …) to report this yourself";
