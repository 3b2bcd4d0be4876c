import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './program.ts';

/**
 * The inspector's command line. It uses one process for each call, stores its tokens in a file and
 * listens for the browser itself.
 */
const INSPECTOR = path.join(import.meta.dirname, '../../../node_modules/.bin/mcp-inspector');

await run(async ({ resource, redirectUri, document }, ask) => {
  const file = path.join(process.env['HOME'] ?? '', 'config.json');
  // With these parameters it also steps up from stored tokens. Without parameters it refreshes, and
  // then fails.
  const oauth = { authorizationParams: { prompt: 'consent' } };
  const kitchen = { type: 'streamable-http', url: resource.href, oauth };
  await writeFile(file, JSON.stringify({ mcpServers: { kitchen } }));
  async function inspect(...args: readonly string[]): Promise<string> {
    const child = spawn(
      process.execPath,
      [
        INSPECTOR,
        '--cli',
        '--config',
        file,
        '--server',
        'kitchen',
        '--callback-url',
        redirectUri,
        ...(document === undefined ? [] : ['--client-metadata-url', document]),
        '--connect-timeout',
        '100000',
        ...args,
      ],
      {
        // It opens a browser, and prints the URL before it does.
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: process.env['HOME'] ?? '',
          BROWSER: 'true',
          MCP_AUTO_OPEN_ENABLED: 'true',
          MCP_INSPECTOR_SECRET_STORE: 'file',
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    let answered = '';
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (answered += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      process.stderr.write(text);
      said += text;
      if (said.includes('Proceed with step-up authorization?')) {
        said = '';
        child.stdin.write('y\n');
      }
      const url = /navigate to: (http\S+)\n/.exec(said)?.[1];
      if (url === undefined) return;
      said = '';
      void ask(new URL(url));
    });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`the inspector ended with ${code}: ${said}`);
    return answered;
  }
  await inspect('--method', 'tools/list');
  return {
    version: '',
    call: (tool) => inspect('--method', 'tools/call', '--tool-name', tool),
    hour: () => {},
    close: async () => {},
  };
});
