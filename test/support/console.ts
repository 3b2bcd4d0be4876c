import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { runConsole } from 'portico';

export const ROOT = path.join(import.meta.dirname, '..', '..');
export const consoleOf = ({ folder }: Installed) =>
  path.join(folder, 'packages', 'portico', 'bin', 'portico.js');

/**
 * Installs the packages in a folder, with links to the workspace at `from`: this workspace or a
 * copy.
 */
export async function installPortico(folder: string, from: string = ROOT): Promise<void> {
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules, { recursive: true });
  await symlink(path.join(from, 'packages', 'portico'), path.join(modules, 'portico'));
  await symlink(path.join(from, 'node_modules', '@portico'), path.join(modules, '@portico'));
}

export interface ConsoleResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the program, such as `unshare` with its options. */
  readonly through?: readonly string[];
  /** The Node and the folder of the package. Default: those of the tests. */
  readonly installed?: Installed;
}

export interface Installed {
  readonly node: string;
  readonly folder: string;
}

/** The Node and the folder of the tests. */
export const HERE: Installed = { node: process.execPath, folder: ROOT };

/** Runs a console command in a separate process, and waits until it ends. */
export async function portico(
  args: readonly string[],
  options: ProcessOptions,
): Promise<ConsoleResult> {
  const child = start([consoleOf(options.installed ?? HERE), ...args], options);
  const [code] = (await once(child.process, 'close')) as [number | null];
  return { code, stdout: child.stdout(), stderr: child.stderr() };
}

let commandBefore: Promise<unknown> = Promise.resolve();

/**
 * Runs a console command in this process, only one at a time. This is faster than a separate
 * process. Use `portico` if a test checks warnings of Node or the exit code.
 */
export function porticoHere(
  args: readonly string[],
  { cwd, env = {} }: ProcessOptions,
): Promise<ConsoleResult> {
  const command = commandBefore.then(async () => {
    const said = { stdout: '', stderr: '' };
    const own = process.env;
    process.env = environment(env);
    try {
      const code = await runConsole(args, {
        cwd,
        stdout: (text) => (said.stdout += text),
        stderr: (text) => (said.stderr += text),
      });
      return { code, ...said };
    } finally {
      process.env = own;
    }
  });
  commandBefore = command.catch(() => {});
  return command;
}

/**
 * The folder where Node stores compiled code for the next process. This saves a quarter of the time
 * of a console command.
 */
export const NODE_COMPILE_CACHE = path.join(ROOT, 'node_modules', '.cache', 'compiled-for-tests');

/** Returns only these variables, with `PATH` and `HOME` of this process. */
function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    NODE_COMPILE_CACHE,
    ...env,
  };
}

export interface RunningProcess {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /**
   * Waits until standard output or standard error contains the text. Rejects if the process ends
   * first.
   */
  says(text: string): Promise<void>;
  /** Waits for the process to end, and returns its exit code. */
  ended(): Promise<number | null>;
  /** Sends the signal, and waits for the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs a script in Node. Its environment has only these variables, `PATH` and `HOME`. */
export function start(
  args: readonly string[],
  { cwd, env = {}, through = [], installed = HERE }: ProcessOptions,
): RunningProcess {
  const [file, ...before] = [...through, installed.node] as const;
  const child = spawn(file, [...before, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    process: child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    async says(text) {
      const ended = closed.then(([code]) => {
        throw new Error(
          `The process ended with ${code} before it said '${text}':\n${said.stdout}${said.stderr}`,
        );
      });
      while (!`${said.stdout}${said.stderr}`.includes(text)) {
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended]);
      }
      ended.catch(() => {});
    },
    ended: async () => (await closed)[0],
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return (await closed)[0];
    },
  };
}
