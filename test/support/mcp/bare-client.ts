import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program of `test/clients/`: `typescript/program.ts` says what it reads and writes. */
export interface ClientProgram {
  readonly name: string;
  /** Builds it if needed, and resolves to its start command. */
  readonly command: () => Promise<readonly string[]>;
  /** Of its redirect URI: 127.0.0.1 by default. */
  readonly hostname?: string;
  /** Of its redirect URI. */
  readonly callbackPath?: string;
  /**
   * Whether it listens for the browser itself; otherwise it receives the final URL of the browser.
   */
  readonly listens?: boolean;
  /**
   * False: if its registration has ended, it keeps the old id, or leaves that to the application.
   */
  readonly registersAnew?: boolean;
  /** Variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One line of a client's output. */
export interface Said {
  readonly authorize?: string;
  readonly connected?: string;
  readonly answer?: string;
  readonly refused?: string;
}

export interface BareClient {
  /** The next line; rejects if the client has ended. */
  next(): Promise<Said>;
  tell(line: string): void;
  close(): Promise<void>;
}

export async function startClient(
  program: ClientProgram,
  args: readonly string[],
  home: string,
): Promise<BareClient> {
  const [file = '', ...own] = await program.command();
  const child = spawn(file, [...own, ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...program.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const closed = once(child, 'close') as Promise<[number | null]>;
  closed.catch(() => {});
  return {
    async next() {
      const { done, value } = await lines.next();
      if (done !== true) return JSON.parse(value) as Said;
      const [code] = await closed;
      throw new Error(`The client ended with ${code}:\n${complaints}`);
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    async close() {
      child.stdin.end();
      child.kill();
      await closed;
    },
  };
}
