import { createInterface } from 'node:readline';

/**
 * The common part of the programs in this folder, in every language. The arguments are the URL of
 * the tools, a redirect URI, and the URL of a metadata document for a client that has one. The
 * programs know nothing else about the server.
 *
 * The program writes these lines to standard output:
 *
 * - `{"authorize": <url>}`: the next line of input is the URL to which the browser came back.
 * - `{"connected": <protocol version>}`, once.
 * - `{"answer": <text>}` or `{"refused": <text>}` for each further line of input. A line is `call
 *   <tool>`, or `hour` for an hour that passes.
 */
export interface Connected {
  readonly version: string;
  call(tool: string): Promise<string>;
  hour(): Promise<void> | void;
  close(): Promise<void>;
}

/** Sends a person to this URL. Resolves to the URL to which the browser came back. */
export type Ask = (url: URL) => Promise<URL>;

export interface Arguments {
  readonly resource: URL;
  readonly redirectUri: string;
  readonly document: string | undefined;
}

export async function run(
  connect: (given: Arguments, ask: Ask) => Promise<Connected>,
): Promise<void> {
  const [resource = '', redirectUri = '', document] = process.argv.slice(2);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const say = (said: Readonly<Record<string, string>>) =>
    process.stdout.write(`${JSON.stringify(said)}\n`);
  const next = async () => {
    const { done, value } = await lines.next();
    return done === true ? null : value;
  };
  const ask: Ask = async (url) => {
    say({ authorize: url.href });
    return new URL((await next()) ?? '');
  };
  const connected = await connect({ resource: new URL(resource), redirectUri, document }, ask);
  say({ connected: connected.version });
  for (let line = await next(); line !== null; line = await next()) {
    try {
      const [, tool] = line.split(' ');
      if (tool === undefined) await connected.hour();
      say({ answer: tool === undefined ? '' : await connected.call(tool) });
    } catch (error) {
      say({ refused: error instanceof Error ? error.message : String(error) });
    }
  }
  await connected.close();
}

/**
 * Runs the action. If the action needs an authorization, authorizes the client and runs the action
 * again.
 */
export async function authorized<T>(
  action: () => Promise<T>,
  isUnauthorized: (error: unknown) => boolean,
  authorize: () => Promise<void>,
): Promise<T> {
  for (let left = 2; ; left -= 1) {
    try {
      return await action();
    } catch (error) {
      if (left === 0 || !isUnauthorized(error)) throw error;
      await authorize();
    }
  }
}
