import cluster, { type Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';

/** The functions of the command that the workers call. */
interface Caller {
  /** Prints a line for the operator. */
  readonly note: (line: string) => void;
  /** Ends the command with an error. */
  readonly fail: (problem: string) => never;
}

/**
 * A message from the main process to a worker: finish the running requests and stop (`stop`), or
 * make room for a new worker (`replace`).
 */
export type StopKind = 'stop' | 'replace';

/**
 * The message that a worker sends to the main process when it listens. It contains the lines to
 * print.
 */
interface Listening {
  readonly listening: readonly string[];
}

/** The environment variable that marks a process as a worker of `serve`. */
const MARK = 'PORTICO_WORKER';

/**
 * How long to wait before the first replacement of a worker, in milliseconds. The wait doubles up
 * to `LONGEST_WAIT`.
 */
const FIRST_WAIT = 100;
const LONGEST_WAIT = 10_000;
/**
 * If a worker ran longer than this time, the wait starts again at `FIRST_WAIT`. In milliseconds.
 */
const STEADY = 10_000;

/**
 * Runs a command in several processes that share a listening socket. When a worker ends, the main
 * process replaces it. SIGHUP replaces all workers, one after another. SIGINT and SIGTERM stop all
 * workers.
 */
export class Workers {
  readonly #caller: Caller;
  readonly #workers = new Set<Worker>();
  /** The workers that listen. Other workers receive no requests yet. */
  readonly #listening = new WeakSet<Worker>();
  /** The workers whose replacements have started. */
  readonly #replaced = new WeakSet<Worker>();
  #isStopping = false;
  #wait = FIRST_WAIT;
  /** The running restart. Restarts run one after another. */
  #restarting: Promise<void> = Promise.resolve();

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Starts the workers. Resolves when all of them have stopped. Fails if a worker ends before it
   * listens.
   *
   * @param says The line to print when the workers stop.
   */
  async run(count: number, says: string): Promise<void> {
    const stopped = this.#stopSignal(says);
    const restart = () => {
      this.#restarting = this.#restarting.then(() => this.#replaceAll());
    };
    process.on('SIGHUP', restart);
    // Let the workers accept connections themselves. If the main process distributed connections
    // and a worker was killed, some connections would never get a response.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    await Promise.race([stopped, this.#startAll(count)]);
    await stopped;
    await this.#stopAll();
    // A restart may have started another worker in the meantime.
    await this.#restarting;
    await this.#stopAll();
    process.off('SIGHUP', restart);
  }

  async #startAll(count: number): Promise<void> {
    try {
      // Start only one worker first, so that an error is shown only once.
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

  /** Starts a worker. When it listens, resolves with the lines to print. */
  #start(): Promise<readonly string[]> {
    const worker = cluster.fork({ [MARK]: '1' });
    this.#workers.add(worker);
    const startedAt = Date.now();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: Partial<Listening> | null) => {
        // The application may send messages, too.
        if (!Array.isArray(message?.listening)) return;
        this.#listening.add(worker);
        resolve(message.listening);
      });
      const ended = (how: string) => {
        this.#workers.delete(worker);
        const isExpected = this.#isStopping || this.#replaced.has(worker);
        if (!this.#listening.has(worker)) reject(new Error(`A worker ended with ${how}`));
        else if (!isExpected) void this.#replaceEnded(how, startedAt);
      };
      worker.once('exit', (code, signal) => ended(signal ?? String(code)));
      // The process could not be started, for example because there are too many processes. No
      // `exit` event follows.
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) ended(error.message);
      });
    });
  }

  /**
   * Starts a worker to replace one that ended unexpectedly. Waits longer if workers end soon after
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

  /** Replaces each worker with a new one. The new worker listens before the old one stops. */
  async #replaceAll(): Promise<void> {
    const before = Array.from(this.#workers);
    for (const worker of before) {
      if (this.#isStopping) return;
      // Skip workers that have ended, because they were already replaced.
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
    this.#caller.note('All workers were replaced.');
  }

  async #stopAll(): Promise<void> {
    await Promise.all(Array.from(this.#workers, (worker) => this.#stop(worker, 'stop')));
  }

  /**
   * Stops a worker after its running requests have finished. Resolves when the worker has ended.
   */
  #stop(worker: Worker, kind: StopKind): Promise<void> {
    return new Promise((resolve) => {
      if (worker.isDead()) {
        resolve();
        return;
      }
      worker.once('exit', () => resolve());
      if (!this.#listening.has(worker)) worker.process.kill('SIGKILL');
      else if (worker.isConnected()) worker.send(kind);
    });
  }

  /**
   * Resolves on the first SIGINT or SIGTERM. On the second signal, all processes exit immediately.
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
 * Call this in a worker. Tells the main process that the worker listens, and which lines to print.
 */
export function tellListening(lines: readonly string[]): void {
  process.send?.({ listening: lines } satisfies Listening);
}

/**
 * Call this in a worker. Resolves when the main process sends a message to stop, or when the main
 * process has ended.
 *
 * A terminal or supervisor sends its signal to every process, so the first signal also stops the
 * worker. Later signals do nothing. If running requests must not finish, the main process ends the
 * workers.
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

/** Whether this process is a worker of `serve`. Returns false for a worker of another program. */
export const isWorker = (): boolean => cluster.isWorker && process.env[MARK] === '1';

/** Whether this process can start workers. A worker of another program cannot. */
export const canHaveWorkers = (): boolean => cluster.isPrimary;
