import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { dropDatabase } from './database.ts';
import { programOf } from './programs.ts';
import type { Seeded } from './target.ts';

/** A target with its own folder and port. Its database is created once. */
export class Bench {
  readonly name: string;
  readonly port: number;
  readonly seeded: Seeded;
  readonly directory: string;
  readonly #database: string | null;

  private constructor(name: string, directory: string, database: string | null, port: number) {
    this.name = name;
    this.directory = directory;
    this.port = port;
    this.#database = database;
    const [seeder = '', ...args] = commandOf(programOf(name)?.seededBy ?? name);
    const { status, stdout, stderr } = spawnSync(seeder, [...args, 'seed'], {
      env: this.#environment(port),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${name} could not be seeded: ${stderr}`);
    this.seeded = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Seeded;
  }

  /** Seeds a target on SQLite in its own folder, or in the database at the URL. */
  static async seed(name: string, database: string | null = null): Promise<Bench> {
    const directory = mkdtempSync(path.join(tmpdir(), `portico-bench-${path.basename(name)}-`));
    return new Bench(name, directory, database, await freePort());
  }

  get database(): string {
    return this.#database ?? `sqlite:${path.join(this.directory, 'bench.sqlite')}`;
  }

  #environment(port: number): NodeJS.ProcessEnv {
    return {
      ...process.env,
      NODE_ENV: 'production',
      BENCH_DIRECTORY: this.directory,
      BENCH_DATABASE: this.database,
      BENCH_PORT: String(port),
      APP_ENV: 'dev',
    };
  }

  /**
   * Starts a process of the target. Pins it to the first core, if the system supports this.
   * Resolves when the process answers.
   */
  async start(
    options: {
      readonly port?: number;
      readonly pinned?: boolean;
      readonly nodeOptions?: readonly string[];
      /** A program that runs the process, such as a profiler, with its arguments. */
      readonly below?: readonly string[];
      /** The number of workers of `portico serve`. Other targets have none. */
      readonly workers?: number;
    } = {},
  ): Promise<RunningTarget> {
    const { port = this.port, pinned = true, nodeOptions = [], below = [], workers = 1 } = options;
    const served =
      this.name === 'portico-serve'
        ? [process.execPath, ...nodeOptions, ...consoleOf(fileOf(this.name), port, workers)]
        : [...commandOf(this.name, nodeOptions), 'serve'];
    const command = [...below, ...served];
    const cores = ['taskset', '-c', pinned ? '0' : '0,1'];
    const [program = '', ...args] = CAN_PIN ? [...cores, ...command] : command;
    const began = performance.now();
    const child = spawn(program, args, {
      env: this.#environment(port),
      stdio: ['ignore', 'ignore', this.name === 'portico-serve' ? 'ignore' : 'inherit'],
    });
    const running = new RunningTarget(child, port);
    await running.firstAnswer(this.seeded.paths.discovery ?? this.seeded.paths.token);
    return Object.assign(running, { startedIn: performance.now() - began });
  }

  async remove(): Promise<void> {
    rmSync(this.directory, { recursive: true, force: true });
    if (this.#database !== null) await dropDatabase(this.#database);
  }
}

export class RunningTarget {
  /** The time from the start of the process to its first response, in milliseconds. */
  startedIn = 0;
  readonly #child: ChildProcess;
  readonly #port: number;

  constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async firstAnswer(at: string): Promise<void> {
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error('The target ended before it answered');
      try {
        const connection = await Connection.open(this.#port);
        await connection.request({ method: 'GET', path: at });
        connection.close();
        return;
      } catch {
        await setTimeout(1);
      }
    }
  }

  /** Returns the resident memory now and at its peak, in MiB. */
  memory(): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const of = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
    return { now: of('VmRSS'), peak: of('VmHWM') };
  }

  /** Returns the processor time so far, in seconds. */
  processorTime(): number {
    // The second field is the name of the process and may contain anything. The 12th and 13th
    // fields after it are the ticks in user mode and in kernel mode.
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Returns the processor time in nanoseconds, as the scheduler counts it for each thread. */
  nanoseconds(): number {
    return globSync(`/proc/${this.pid}/task/*/schedstat`)
      .map((file) => Number(readFileSync(file, 'utf8').split(' ', 1)[0]))
      .reduce((one, other) => one + other, 0);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGTERM');
    const forced = globalThis.setTimeout(() => this.#child.kill('SIGKILL'), 3000);
    await once(this.#child, 'close');
    clearTimeout(forced);
  }
}

/**
 * Whether processes can be pinned. If so, the server uses one core, and this process creates the
 * load on the other core.
 */
export const CAN_PIN =
  spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)]).status === 0;

function fileOf(name: string): string {
  const file = `${name}${path.extname(import.meta.filename)}`;
  const places = ['targets', 'peers'].map((folder) => path.join(import.meta.dirname, folder, file));
  return places.find((place) => existsSync(place)) ?? file;
}

/** Returns the command of a target, without `seed` or `serve`. */
function commandOf(name: string, nodeOptions: readonly string[] = []): readonly string[] {
  return programOf(name)?.command ?? [process.execPath, ...nodeOptions, fileOf(name)];
}

function consoleOf(application: string, port: number, workers: number): readonly string[] {
  const manifest = fileURLToPath(import.meta.resolve('portico/package.json'));
  const program = path.join(path.dirname(manifest), 'bin', 'portico.js');
  const at = [`--port=${port}`, '--hostname=127.0.0.1', `--workers=${workers}`];
  return [program, '--app', application, 'serve', ...at];
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}
