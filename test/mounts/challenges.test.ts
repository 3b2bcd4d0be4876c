// @engines sqlite: the store is the same in every mount; challenges.test.ts tests the challenges
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MOUNTS, type Mount, type RunningMount } from '../support/mounts.ts';
import { NEST } from '../support/mounts/nest.ts';
import { waysOf } from '../support/scale.ts';

/** A page that may call tools from a browser. */
const PAGE = 'https://inspector.example';

const ALL: readonly Mount[] = waysOf([...MOUNTS, ...NEST]);

describe.each(ALL)('challenges on $name', (mount) => {
  let running: RunningMount;
  let metadata: string;

  beforeAll(async () => {
    running = await mount.start({
      oauth_server: { challenge: true },
      mcp: { oauth: { challenge: true }, allowed_origins: [PAGE] },
    });
    metadata = `resource_metadata="${running.url}/.well-known/oauth-protected-resource/mcp"`;
  });
  afterAll(() => running.close());

  const bearer = (token: string | null): Record<string, string> =>
    token === null ? {} : { Authorization: `Bearer ${token}` };
  const api = (token: string | null) =>
    fetch(`${running.url}/api/orders`, { headers: bearer(token) });
  const mcp = (token: string | null) =>
    fetch(`${running.url}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Origin: PAGE,
        ...bearer(token),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });

  /** A token of the application with none of the scopes for the orders and the tools. */
  async function narrowToken(): Promise<string> {
    const registration = {
      name: 'Robot',
      grants: ['client_credentials'],
      scopes: ['mcp:tools'],
    } as const;
    const { id, secret } = await running.register(registration);
    const response = await fetch(`${running.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token } = (await response.json()) as { readonly access_token: string };
    return token;
  }

  // @shows AS-12.10, RFC9728-5.1
  test('token(): 401 and 403 contain the metadata URL and the scope, also for pages', async () => {
    for (const [token, status, error] of [
      [null, 401, null],
      ['garbage', 401, 'invalid_token'],
      [await narrowToken(), 403, 'insufficient_scope'],
    ] as const) {
      const { status: answered, headers } = await api(token);
      const challenge = headers.get('www-authenticate') ?? '';
      expect([answered, /error="([^"]*)"/.exec(challenge)?.[1] ?? null]).toEqual([status, error]);
      expect(challenge).toMatch(/^Bearer realm="oauth", /);
      expect(challenge.endsWith(`scope="orders:read", ${metadata}`)).toBe(true);
      expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    }
  });

  // @shows MCP-8.25
  test('GET and HEAD of the MCP endpoint: the same challenge without a valid token, 405 with one', async () => {
    for (const method of ['GET', 'HEAD']) {
      for (const [token, error] of [
        [null, ''],
        ['garbage', 'error="invalid_token", '],
      ] as const) {
        const asked = { method, headers: { Origin: PAGE, ...bearer(token) } };
        const response = await fetch(`${running.url}/mcp`, asked);
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([
          401,
          `Bearer ${error}${metadata}, scope="mcp:tools"`,
        ]);
        expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
        expect((await response.text()).includes('"error"')).toBe(method === 'GET');
      }
      const refused = await fetch(`${running.url}/mcp`, {
        method,
        headers: bearer(await narrowToken()),
      });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
      expect(refused.headers.has('www-authenticate')).toBe(false);
    }
    const foreign = await fetch(`${running.url}/mcp`, {
      headers: { Origin: 'https://evil.example' },
    });
    expect([foreign.status, foreign.headers.has('www-authenticate')]).toEqual([405, false]);
  });

  // @shows MCP-8.26
  test.each(['/mcp/', '/mcp//', '/mcp/?access_token=secret'])(
    'POST %s reports the URL of the MCP endpoint, without a redirect',
    async (path) => {
      const headers = { ...bearer('secret'), Origin: PAGE, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const asked = { method: 'POST', headers, body, redirect: 'manual' } as const;
      const response = await fetch(`${running.url}${path}`, asked);
      expect([response.status, response.headers.get('location')]).toEqual([404, null]);
      expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
      const text = await response.text();
      expect(text).not.toContain('secret');
      expect(JSON.parse(text)).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: {
          code: -32_000,
          message: `The MCP endpoint is ${running.url}/mcp, without a slash at the end.`,
        },
      });
    },
  );

  // @shows MCP-8.20
  test('the MCP endpoint sends the metadata URL, and the metadata is available there', async () => {
    for (const [token, error] of [
      [null, ''],
      ['garbage', 'error="invalid_token", '],
    ] as const) {
      const { status, headers } = await mcp(token);
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer ${error}${metadata}, scope="mcp:tools"`,
      ]);
      expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    }
    const url = /"([^"]*)"/.exec(metadata)?.[1] ?? '';
    expect(await (await fetch(url)).json()).toMatchObject({
      resource: `${running.url}/mcp`,
      authorization_servers: [running.url],
    });
  });
});

// @shows AS-6.24, MCP-7.10
test.each([
  { strips: false, mountPath: '/auth' },
  { strips: true, mountPath: '' },
])(
  'the well-known metadata path comes before the base path (a proxy removes it: $strips)',
  async (proxy) => {
    const [mount] = MOUNTS;
    const resource = 'http://localhost/auth/mcp';
    const running = await mount?.start({
      public_url: 'http://localhost',
      base_path: '/auth',
      base_path_stripped: proxy.strips,
      oauth_server: { audience: resource, challenge: true },
      mcp: { oauth: { challenge: true } },
    });
    try {
      const at = `http://127.0.0.1:${new URL(running?.url ?? '').port}`;
      const refusals = [
        await fetch(`${at}${proxy.mountPath}/mcp`, { method: 'POST' }),
        await fetch(`${at}/api/orders`),
      ];
      for (const { headers } of refusals) {
        const named =
          /resource_metadata="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1] ?? '';
        expect(named).toBe('http://localhost/.well-known/oauth-protected-resource/auth/mcp');
        const document = await fetch(`${at}${new URL(named).pathname}`);
        expect(await document.json()).toMatchObject({
          resource,
          authorization_servers: ['http://localhost/auth'],
        });
      }
    } finally {
      await running?.close();
    }
  },
);
