// @engines sqlite: the database makes no difference
import { describe, expect, onTestFinished, test } from 'vitest';
import { MOUNTS } from './support/mounts.ts';
import { waysOf } from './support/scale.ts';

/** One mount of each kind. */
const KINDS = waysOf(
  MOUNTS.filter(({ name }) => /^portico\/\w+$|^Hono, with encrypted|by portico\/fetch$/.test(name)),
);

/**
 * The frameworks whose host knows the client's address. For the others, the host returns null, or
 * the framework does not provide the address.
 */
const KNOWING: readonly string[] = [
  'portico/express',
  'portico/fastify',
  'portico/koa',
  'Hono, with encrypted sessions',
];

describe.each(KINDS)('the audit log of a server mounted by $name', (mount) => {
  // @shows AS-19.6
  test('contains the request and the network, for an endpoint and for a tool', async () => {
    const running = await mount.start({
      oauth_server: { audit: { keep: true } },
      mcp: { audit: true },
    });
    onTestFinished(() => running.close());
    const { id, secret } = await running.register({
      name: 'A service',
      grants: ['client_credentials'],
      scopes: ['mcp:tools'],
    });
    const token = await fetch(`${running.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: bearer } = (await token.json()) as { readonly access_token: string };
    const called = await fetch(`${running.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${bearer}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"my_name","arguments":{}}}',
    });
    expect([token.status, called.status]).toEqual([200, 200]);
    const address = KNOWING.includes(mount.name) ? '127.0.0.1' : null;
    const { items } = await running.server.audit.list({ clientId: id });
    expect(
      items.map(({ type, requestId, address: from }) => ({ type, requestId, address: from })),
    ).toEqual([
      { type: 'tool_called', requestId: called.headers.get('x-request-id'), address },
      { type: 'tokens_issued', requestId: token.headers.get('x-request-id'), address },
      { type: 'client_registered', requestId: null, address: null },
    ]);
  });
});
