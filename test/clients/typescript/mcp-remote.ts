import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run } from './program.ts';

/**
 * mcp-remote connects a host that uses only standard input with the server. It listens for the
 * browser itself.
 */
const PROXY = path.join(import.meta.dirname, '../../../node_modules/mcp-remote/dist/proxy.js');

await run(async ({ resource, redirectUri, document }, ask) => {
  const { port, hostname, pathname } = new URL(redirectUri);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      PROXY,
      resource.href,
      port,
      '--host',
      hostname,
      '--callback-path',
      pathname,
      '--auth-timeout',
      '120',
      '--transport',
      'http-only',
      ...(document === undefined ? [] : ['--client-metadata-url', document]),
    ],
    // It opens a browser, and prints the URL before it does.
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', BROWSER: 'true' },
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    said += chunk.toString();
    const url = /authorize this client by visiting:\n(http\S+)\n/.exec(said)?.[1];
    if (url === undefined) return;
    said = '';
    void ask(new URL(url));
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport, { timeout: 100_000 });
  return {
    version: client.getNegotiatedProtocolVersion() ?? '',
    call: async (tool) =>
      JSON.stringify(await client.callTool({ name: tool, arguments: {} }, { timeout: 100_000 })),
    hour: () => {},
    close: () => client.close(),
  };
});
