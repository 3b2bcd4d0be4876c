import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program in `test/clients/`. `typescript/program.ts` describes what it reads and writes. */
export interface ClientProgram {
  readonly name: string;
  /** Builds the program if needed. Resolves to the command that starts it. */
  readonly command: () => Promise<readonly string[]>;
  /** The host in its redirect URI. Default: 127.0.0.1. */
  readonly hostname?: string;
  /** The path of its redirect URI. */
  readonly callbackPath?: string;
  /**
   * Whether the program itself listens for the browser. If false, the test sends the final URL of
   * the browser to the program.
   */
  readonly listens?: boolean;
  /**
   * Whether the program registers again after its registration has ended. If false, it uses the old
   * id again, or leaves this to the application.
   */
  readonly registersAnew?: boolean;
  /** Variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A line of the client's output. */
export interface Said {
  readonly authorize?: string;
  readonly connected?: string;
  readonly answer?: string;
  readonly refused?: string;
}

export interface BareClient {
  /** Returns the next line. Rejects if the client has ended. */
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
