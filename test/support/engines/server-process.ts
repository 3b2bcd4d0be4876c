import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A program and its arguments. */
export type Command = readonly string[];

/** The account of a server: servers refuse to run as root. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** A server that the tests have started. */
export interface ServerProcess {
  isRunning(): boolean;
  /** Ends it with a clean shutdown. */
  end(): Promise<void>;
  /** Ends it and its children, as a crash of its machine would. */
  kill(): Promise<void>;
  /** Stops it without ending its connections. */
  pause(): void;
  goOn(): void;
}

/** A folder that belongs to the account of a Debian package when the tests run as root. */
export async function createFolder(
  account: string,
): Promise<{ readonly folder: string; readonly owner: Owner }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-engine-'));
  if (process.getuid?.() !== 0) return { folder, owner: {} };
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, account], { encoding: 'utf8' }).stdout),
  );
  if (uid === undefined || gid === undefined || !Number.isInteger(uid) || uid === 0) {
    throw new Error(`There is no account ${account} to run the server as`);
  }
  await chown(folder, uid, gid);
  return { folder, owner: { uid, gid } };
}

/** Runs a program to its end; returns its output. */
export async function run([program = '', ...args]: Command, owner: Owner): Promise<string> {
  const child = spawn(program, args, { ...owner, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${output.join('')}`);
  return output.join('');
}

/** How long a server may take to answer its first statement, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Starts a server, and waits until it answers at this URL. It ends with the tests, however they
 * end.
 */
export async function serve(
  [program = '', ...args]: Command,
  owner: Owner,
  url: string,
): Promise<ServerProcess> {
  const child = spawn(program, args, { ...owner, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-100_000);
  });
  const last = () => child.kill('SIGKILL');
  process.once('exit', last);
  child.once('exit', () => process.off('exit', last));
  // Imported late: vitest.config.ts loads this file before `dist` is built.
  const { openDatabase } = await import('@portico/sql');
  const until = Date.now() + PATIENCE;
  for (;;) {
    if (hasEnded(child)) throw new Error(`${program} ended with ${child.exitCode}:\n${said}`);
    const database = openDatabase(url, { directory: '/' });
    try {
      await database.execute('SELECT 1');
      return toServerProcess(child, () => said);
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await database.close();
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null;

/** The last text that a server wrote, in characters, if it ends by itself. */
const LAST_WORDS = 10_000;

function toServerProcess(child: ChildProcess, said: () => string): ServerProcess {
  let isEnding = false;
  child.once('close', (code, signal) => {
    if (!isEnding)
      process.stderr.write(
        `${child.spawnfile} ended by itself (${code ?? signal}):\n${said().slice(-LAST_WORDS)}\n`,
      );
  });
  const signalAll = (signal: NodeJS.Signals) => {
    // The parent before its children, so that it starts no more of them.
    child.kill(signal);
    for (const id of childrenOf(child)) signalOne(id, signal);
  };
  return {
    isRunning: () => !hasEnded(child),
    async end() {
      isEnding = true;
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
    async kill() {
      if (hasEnded(child)) return;
      isEnding = true;
      const closed = once(child, 'close');
      signalAll('SIGSTOP');
      const children = childrenOf(child);
      child.kill('SIGKILL');
      for (const id of children) signalOne(id, 'SIGKILL');
      await closed;
    },
    pause: () => signalAll('SIGSTOP'),
    goOn: () => signalAll('SIGCONT'),
  };
}

/** PostgreSQL has a process for each connection, each in its own group. */
function childrenOf({ pid = 0 }: ChildProcess): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    // It has ended, or this system does not say.
    return [];
  }
}

function signalOne(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // It has ended meanwhile.
  }
}
