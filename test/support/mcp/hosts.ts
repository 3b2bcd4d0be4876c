import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ROOT } from '../console.ts';

/** Published assistants. The lockfile of `test/clients/hosts` sets their versions. */
const SOURCE = path.join(ROOT, 'test', 'clients', 'hosts');
export const INSTALLED = path.join(ROOT, 'node_modules', '.cache', 'mcp-clients', 'hosts');

const bin = (...parts: readonly string[]) => path.join(INSTALLED, 'node_modules', ...parts);

/**
 * The command that starts each assistant. For opencode, this is the program itself: the script that
 * finds the program exists only after the install script has run.
 */
export const HOSTS = {
  codex: [process.execPath, bin('@openai', 'codex', 'bin', 'codex.js')],
  opencode: [bin(`opencode-${process.platform}-${process.arch}`, 'bin', 'opencode')],
  gemini: [process.execPath, path.join(INSTALLED, 'gemini.mjs')],
} as const;

/**
 * Installs the locked versions if needed. Does not use `npm ci`, which would also download the
 * programs of all other platforms.
 */
export async function installHosts(): Promise<void> {
  const lock = await readFile(path.join(SOURCE, 'package-lock.json'), 'utf8');
  const done = path.join(INSTALLED, 'installed.txt');
  await mkdir(INSTALLED, { recursive: true });
  await cp(SOURCE, INSTALLED, { recursive: true });
  if ((await readFile(done, 'utf8').catch(() => '')) === lock) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const child = spawn('npm', ['install', '--no-save', ...options], {
    cwd: INSTALLED,
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`npm install of ${SOURCE} ended with ${code}`);
  await writeFile(done, lock);
}

export interface OpenedBrowser {
  /** The folder with the program that opens URLs. */
  readonly folder: string;
  /** Returns the next URL that it receives. */
  opened(): Promise<URL>;
  close(): Promise<void>;
}

/**
 * Replaces the program that opens a URL in the browser (`xdg-open`). The replacement reports the
 * URL instead.
 */
export async function startOpener(folder: string): Promise<OpenedBrowser> {
  const waiting: ((url: URL) => void)[] = [];
  const given: URL[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      response.end();
      const url = new URL(body);
      const next = waiting.shift();
      if (next === undefined) given.push(url);
      else next(url);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const file = path.join(folder, 'xdg-open');
  await writeFile(
    file,
    `#!${process.execPath}\nfetch('http://127.0.0.1:${port}/', { method: 'POST', body: process.argv[2] });\n`,
  );
  await chmod(file, 0o755);
  return {
    folder,
    opened() {
      const known = given.shift();
      return known === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(known);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface RunningHost {
  readonly child: ChildProcess;
  /** Returns the output so far. */
  said(): string;
  /** Returns the first line that begins with this text. */
  line(begins: string): Promise<string>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts a program with its own home folder. Only the opener can open a URL there. */
export function startHost(
  command: readonly string[],
  { home, opener }: { readonly home: string; readonly opener: OpenedBrowser },
): RunningHost {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: home,
    env: {
      HOME: home,
      PATH: [opener.folder, path.dirname(process.execPath), '/usr/bin', '/bin'].join(
        path.delimiter,
      ),
      BROWSER: path.join(opener.folder, 'xdg-open'),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  const lookers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      for (const look of lookers) look();
    });
  }
  child.stdin.on('error', () => {});
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    said: () => said,
    ended,
    async line(begins) {
      return new Promise((resolve, reject) => {
        const look = () => {
          // Ignore the last line, because it may be incomplete.
          const found = said
            .split('\n')
            .slice(0, -1)
            .find((each) => each.startsWith(begins));
          if (found === undefined) return;
          lookers.delete(look);
          resolve(found);
        };
        lookers.add(look);
        look();
        void ended.then((code) => reject(new Error(`It ended with ${code}:\n${said}`)));
      });
    },
  };
}
