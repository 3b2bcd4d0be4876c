import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A program and its arguments. */
export type Command = readonly string[];

/** The account that runs a server. Servers refuse to run as root. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** A server that the tests started. */
export interface ServerProcess {
  isRunning(): boolean;
  /** Shuts the server down cleanly. */
  end(): Promise<void>;
  /** Kills the server and its children, as if its machine crashed. */
  kill(): Promise<void>;
  /** Stops the server. Its connections stay open. */
  pause(): void;
  goOn(): void;
}

/**
 * Creates a folder. If the tests run as root, the folder belongs to the account of a Debian
 * package.
 */
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

/** Runs a program until it ends. Returns its output. */
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
 * Starts a server, and waits until it answers at this URL. The server ends with the tests, even if
 * they crash.
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
  // Import this only here, because vitest.config.ts loads this file before `dist` is built.
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

/** How much of a server's last output to show if the server ends by itself, in characters. */
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
    // Signal the parent before its children, so that it does not start more of them.
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

/**
 * Returns the ids of the child processes. PostgreSQL has a process for each connection, and each is
 * in its own group.
 */
function childrenOf({ pid = 0 }: ChildProcess): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    // The process has ended, or this system does not report its children.
    return [];
  }
}

function signalOne(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // The process has ended in the meantime.
  }
}
