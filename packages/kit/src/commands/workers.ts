import cluster, { type Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';

/** The functions of the console that `Workers` calls. */
interface Caller {
  /** Prints a line for the operator. */
  readonly note: (line: string) => void;
  /** Ends the command with an error message. */
  readonly fail: (problem: string) => never;
}

/**
 * A message from the main process that asks a worker to finish its running requests and exit. With
 * `stop`, the whole server stops. With `replace`, a new worker has taken over.
 */
export type StopKind = 'stop' | 'replace';

/**
 * The message with which a worker tells the main process that it accepts requests. `listening`
 * contains the lines to print.
 */
interface Listening {
  readonly listening: readonly string[];
}

/** The environment variable that marks a process as a worker of the command `serve`. */
const MARK = 'PORTICO_WORKER';

/**
 * How long to wait before replacing a worker that ended, in milliseconds. The wait doubles with
 * each attempt, up to `LONGEST_WAIT`.
 */
const FIRST_WAIT = 100;
const LONGEST_WAIT = 10_000;
/**
 * If a worker has run for longer than this time, the wait before its replacement is reset to
 * `FIRST_WAIT`. In milliseconds.
 */
const STEADY = 10_000;
/**
 * How long a worker may take to finish its requests and close the application, in milliseconds.
 * Then it is killed. Otherwise, a worker whose event loop is blocked would never end.
 */
const LONGEST_STOP = 30_000;

/**
 * Runs the command in several processes that share a listening socket. When a worker ends, the main
 * process replaces it. SIGHUP replaces all workers, one after another. SIGINT and SIGTERM stop all
 * workers.
 */
export class Workers {
  readonly #caller: Caller;
  /** How long the workers keep serving after SIGTERM, in milliseconds. */
  readonly #drain: number;
  readonly #workers = new Set<Worker>();
  /** The workers that accept requests. Workers that are still starting are not included. */
  readonly #listening = new WeakSet<Worker>();
  /**
   * The old workers after SIGHUP. `#replaceAll` starts the replacement of each one, so no other
   * worker is started when it ends.
   */
  readonly #replaced = new WeakSet<Worker>();
  #isStopping = false;
  #wait = FIRST_WAIT;
  /**
   * The start, or the replacement of all workers, that is running now. Another replacement begins
   * only when it has finished.
   */
  #restarting: Promise<void> = Promise.resolve();

  /** `drain` is in seconds. */
  constructor(caller: Caller, drain: number) {
    this.#caller = caller;
    this.#drain = drain * 1000;
  }

  /**
   * Starts the workers. Resolves when all of them have stopped. Fails if, during the start, a
   * worker ends before it accepts requests.
   *
   * @param says The line to print when the workers are asked to stop.
   */
  async run(count: number, says: string): Promise<void> {
    const stopped = this.#stopSignal(says);
    const restart = () => {
      this.#restarting = this.#restarting.then(() => this.#replaceAll());
    };
    process.on('SIGHUP', restart);
    // Let each worker accept connections itself. If the main process distributed the connections,
    // some would never get a response after a worker is killed.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    const started = this.#startAll(count);
    this.#restarting = started.catch(() => {});
    await Promise.race([stopped, started]);
    await stopped;
    await this.#stopAll();
    // Stop all workers once more, because a restart may have started another one in the meantime.
    await this.#restarting;
    await this.#stopAll();
    process.off('SIGHUP', restart);
  }

  async #startAll(count: number): Promise<void> {
    try {
      // First start a single worker, so that an error in the application is shown only once.
      const lines = await this.#start();
      if (this.#isStopping) return;
      await Promise.all(Array.from({ length: count - 1 }, () => this.#start()));
      for (const line of lines) this.#caller.note(line);
      this.#caller.note(
        `${count} workers are running. To replace them one after another, send SIGHUP.`,
      );
    } catch {
      if (this.#isStopping) return;
      this.#isStopping = true;
      await this.#stopAll();
      this.#caller.fail('A worker stopped before it could accept requests; see its error above');
    }
  }

  /** Starts a worker. Resolves with the lines to print, as soon as the worker accepts requests. */
  #start(): Promise<readonly string[]> {
    const worker = cluster.fork({ [MARK]: '1' });
    this.#workers.add(worker);
    const startedAt = Date.now();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: Partial<Listening> | null) => {
        // Ignore other messages, because the application may also send some.
        if (!Array.isArray(message?.listening)) return;
        this.#listening.add(worker);
        resolve(message.listening);
      });
      const ended = (how: string) => {
        this.#workers.delete(worker);
        const isReplaced = this.#replaced.has(worker);
        const isExpected = this.#isStopping || isReplaced;
        // If it was replaced during its start, the start need not be repeated.
        if (isReplaced) resolve([]);
        else if (!this.#listening.has(worker)) reject(new Error(`A worker ended with ${how}`));
        else if (!isExpected) void this.#replaceEnded(how, startedAt);
      };
      worker.once('exit', (code, signal) => ended(signal ?? String(code)));
      // If the worker has no process id, its process could not be started, for example because
      // there are too many processes. No `exit` event follows.
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) ended(error.message);
      });
    });
  }

  /**
   * Replaces a worker that ended unexpectedly. Waits longer each time if workers end soon after
   * they start.
   */
  async #replaceEnded(how: string, startedAt: number): Promise<void> {
    this.#wait = Date.now() - startedAt > STEADY ? FIRST_WAIT : this.#wait;
    this.#caller.note(`A worker stopped (${how}). Starting another worker.`);
    for (;;) {
      await setTimeout(this.#wait);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
      if (this.#isStopping) return;
      try {
        await this.#start();
        return;
      } catch {
        if (this.#isStopping) return;
        this.#caller.note(`A worker could not start. Retrying in ${this.#wait / 1000} s.`);
      }
    }
  }

  /**
   * Replaces each worker with a new one. The old worker stops only after the new one accepts
   * requests.
   */
  async #replaceAll(): Promise<void> {
    const before = Array.from(this.#workers);
    for (const worker of before) {
      if (this.#isStopping) return;
      // Skip a worker that has ended in the meantime, because it was already replaced.
      if (!this.#workers.has(worker)) continue;
      this.#replaced.add(worker);
      try {
        await this.#start();
      } catch {
        if (this.#isStopping) return;
        this.#replaced.delete(worker);
        this.#caller.note('A new worker could not start. The other workers keep running.');
        if (worker.isDead()) await this.#replaceEnded('while it was replaced', Date.now());
        return;
      }
      await this.#stop(worker, 'replace');
    }
    if (!this.#isStopping) this.#caller.note('All workers were replaced.');
  }

  async #stopAll(): Promise<void> {
    await Promise.all(Array.from(this.#workers, (worker) => this.#stop(worker, 'stop')));
  }

  /**
   * Asks a worker to stop after its running requests have finished, and kills it if it takes too
   * long. Resolves when the worker has ended.
   */
  #stop(worker: Worker, kind: StopKind): Promise<void> {
    return new Promise((resolve) => {
      if (worker.isDead()) {
        resolve();
        return;
      }
      const ended = new AbortController();
      worker.once('exit', () => {
        ended.abort();
        resolve();
      });
      const longest = LONGEST_STOP + (kind === 'stop' ? this.#drain : 0);
      void this.#killAfter(longest, worker, ended.signal);
      if (!this.#listening.has(worker)) worker.process.kill('SIGKILL');
      else if (worker.isConnected()) worker.send(kind);
    });
  }

  /** Kills a worker that has not ended after the wait, in milliseconds. */
  async #killAfter(wait: number, worker: Worker, ended: AbortSignal): Promise<void> {
    try {
      await setTimeout(wait, null, { signal: ended });
    } catch {
      return; // The worker has ended.
    }
    this.#caller.note('A worker did not stop in time, so it was killed.');
    worker.process.kill('SIGKILL');
  }

  /**
   * Resolves on the first SIGINT or SIGTERM. On a second signal, all processes exit immediately.
   */
  #stopSignal(says: string): Promise<void> {
    return new Promise((resolve) => {
      for (const [signal, code] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const) {
        process.on(signal, () => {
          if (this.#isStopping) {
            for (const worker of this.#workers) worker.process.kill('SIGKILL');
            process.exit(code);
          }
          this.#isStopping = true;
          this.#caller.note(says);
          resolve();
        });
      }
    });
  }
}

/**
 * Tells the main process that this worker accepts requests, and which lines to print. Call this
 * function only in a worker.
 */
export function tellListening(lines: readonly string[]): void {
  process.send?.({ listening: lines } satisfies Listening);
}

/**
 * Resolves when the main process asks this worker to stop, or has ended itself. Call this function
 * only in a worker.
 *
 * A terminal or supervisor may send its signal to every process, so the first signal also stops the
 * worker. The worker ignores later signals. On a second signal, the main process kills its workers.
 */
export function stopMessage(): Promise<StopKind> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message === 'stop' || message === 'replace') resolve(message);
    });
    process.once('disconnect', () => resolve('stop'));
    if (!process.connected) resolve('stop');
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve('stop'));
    process.on('SIGHUP', () => {});
  });
}

/**
 * Whether this process is a worker of the command `serve`. Returns false for a worker of another
 * program.
 */
export const isWorker = (): boolean => cluster.isWorker && process.env[MARK] === '1';

/**
 * Whether this process can start workers. Returns false for a worker of another program, because
 * workers cannot start workers.
 */
export const canHaveWorkers = (): boolean => cluster.isPrimary;
