// @engines sqlite: it tests requests of each framework; test/bound-tokens.test.ts tests the store
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import Koa from 'koa';
import * as ofFastify from 'portico/fastify';
import * as ofKoa from 'portico/koa';
import { token, type AuthorizationServer } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientKey } from '../support/assertions.ts';
import { MOUNTS, type Mount, type RunningMount } from '../support/mounts.ts';
import { mountNamed } from '../support/mounts/named.ts';
import { NEST } from '../support/mounts/nest.ts';
import { NEXT } from '../support/mounts/next.ts';
import { newDpopKey } from '../support/dpop.ts';
import { startPortal } from '../support/portal.ts';
import { boundHeaders, boundServiceToken, hashOf, proofFor } from '../support/proofs.ts';
import { waysOf } from '../support/scale.ts';

/** A page that may call tools from a browser. */
const PAGE = 'https://inspector.example';

const ALL: readonly Mount[] = waysOf([...MOUNTS, ...NEST, NEXT]);

/**
 * Every route that accepts a token, and the status if it accepts the token, which belongs to no
 * person.
 */
const DOORS = [
  ['GET', '/api/orders', 200],
  ['GET', '/oauth/userinfo', 403],
  ['POST', '/oauth/userinfo', 403],
  ['POST', '/mcp', 200],
] as const;

describe.each(ALL)('DPoP-bound tokens on $name', (mount) => {
  let running: RunningMount;
  let client: string;
  const key = newDpopKey();
  let bound: string;

  beforeAll(async () => {
    running = await mount.start({
      oauth_server: { dpop: 'accept', challenge: true },
      mcp: { oauth: { challenge: true }, allowed_origins: [PAGE] },
    });
    const registered = await running.register({
      name: 'Robot',
      grants: ['client_credentials'],
      scopes: ['orders:read', 'mcp:tools'],
    });
    client = btoa(`${registered.id}:${registered.secret}`);
    bound = await issue(key);
  });
  afterAll(() => running.close());

  async function issue(to: ClientKey | null): Promise<string> {
    const url = `${running.url}/oauth/token`;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${client}`,
        ...(to === null ? {} : { DPoP: proofFor(to, 'POST', url) }),
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const answer = (await response.json()) as Readonly<Record<string, string>>;
    expect(answer['token_type']).toBe(to === null ? 'Bearer' : 'DPoP');
    return answer['access_token'] ?? '';
  }

  const urlOf = (path: string) => `${running.url}${path}`;
  const send = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    fetch(urlOf(path), {
      method,
      headers: {
        Accept: 'application/json, text/event-stream',
        ...(method === 'POST' && path === '/mcp' ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      ...(path === '/mcp'
        ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }
        : {}),
    });
  const judged = async (response: Response) => [
    response.status,
    /error="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1] ?? null,
  ];

  // @shows AS-12.12, RFC9449-7.1a, MCP-8.21
  test.each(DOORS)(
    '%s %s: accepts a DPoP proof for one request only',
    async (method, path, status) => {
      const headers = boundHeaders(key, method, urlOf(path), bound);
      expect((await send(method, path, headers)).status).toBe(status);
      expect(await judged(await send(method, path, headers))).toEqual([401, 'invalid_dpop_proof']);
      expect(await judged(await send(method, path, { ...headers, DPoP: '' }))).toEqual([
        401,
        'invalid_dpop_proof',
      ]);
      const { DPoP: _, ...without } = headers;
      expect(await judged(await send(method, path, without))).toEqual([401, 'invalid_dpop_proof']);
    },
  );

  // @shows AS-12.12, RFC9449-7.1a
  test.each(DOORS)('%s %s: refuses a proof for a different request', async (method, path) => {
    const url = urlOf(path);
    const { origin, port } = new URL(url);
    const wrong: readonly (readonly [string, string, Readonly<Record<string, unknown>>?])[] = [
      [method === 'GET' ? 'POST' : 'GET', url],
      [method.toLowerCase(), url],
      ...DOORS.filter((door) => door[1] !== path).map(
        ([, other]) => [method, urlOf(other)] as const,
      ),
      [method, `${url}/`],
      [method, `${origin}/${path}`],
      [method, `${origin}${path.replace(/[a-z]+$/, (last) => last.toUpperCase())}`],
      [method, `${origin}/x/%2e%2e%2f${path.slice(1)}`],
      [method, `${origin}${path.replace(/\/([a-z]+)$/, '%2F$1')}`],
      [method, path],
      [method, `https://localhost:${port}${path}`],
      [method, `http://localhost:${Number(port) + 1}${path}`],
      [method, `http://localhost${path}`],
      [method, `http://localhost.:${port}${path}`],
      [method, `http://127.0.0.1:${port}${path}`],
      [method, `http://user@localhost:${port}${path}`],
      [method, `http://localhost:${port}@evil.example${path}`],
      [method, `http:\\\\localhost:${port}${path}`],
      [method, `${url}\t`],
      [method, url, { ath: undefined }],
      [method, url, { ath: hashOf('another token') }],
      [method, url, { htm: undefined }],
      [method, url, { htu: [url] }],
      [method, url, { iat: Math.floor(Date.now() / 1000) - 600 }],
      [method, url, { iat: Math.floor(Date.now() / 1000) + 600 }],
    ];
    for (const [htm, htu, more] of wrong) {
      const headers = boundHeaders(key, htm, htu, bound, more);
      expect([htm, htu, more, await judged(await send(method, path, headers))]).toEqual([
        htm,
        htu,
        more,
        [401, 'invalid_dpop_proof'],
      ]);
    }
  });

  // @shows AS-12.12
  test('HEAD /api/orders: accepts a proof only for the method of the request', async () => {
    const statusOf = async (method: string) =>
      (await send('HEAD', '/api/orders', boundHeaders(key, method, urlOf('/api/orders'), bound)))
        .status;
    expect([await statusOf('HEAD'), await statusOf('GET')]).toEqual([200, 401]);
  });

  // @shows RFC9449-4.3b
  test('a different spelling of the same URL is accepted (RFC 3986 sections 6.2.2 and 6.2.3)', async () => {
    const { port } = new URL(running.url);
    for (const htu of [
      `HTTP://LOCALHOST:${port}/api/orders`,
      `http://localhost:${port}/api/%6Frders`,
      `http://localhost:${port}/api/./x/../orders`,
      `http://localhost:${port}/api/orders?page=3#top`,
    ]) {
      const response = await send('GET', '/api/orders', boundHeaders(key, 'GET', htu, bound));
      expect([htu, response.status]).toEqual([htu, 200]);
    }
  });

  // @shows AS-12.12, RFC9449-7.1b, RFC9449-7.2
  test.each(DOORS)(
    '%s %s: refuses a token that is sent with the scheme of the other token type',
    async (method, path, status) => {
      const url = urlOf(path);
      const unbound = await issue(null);
      expect((await send(method, path, { Authorization: `Bearer ${unbound}` })).status).toBe(
        status,
      );
      const stolen = { ...boundHeaders(key, method, url, bound), Authorization: `Bearer ${bound}` };
      expect(await judged(await send(method, path, { Authorization: `Bearer ${bound}` }))).toEqual([
        401,
        'invalid_token',
      ]);
      expect(await judged(await send(method, path, stolen))).toEqual([401, 'invalid_token']);
      expect(
        await judged(await send(method, path, boundHeaders(key, method, url, unbound))),
      ).toEqual([401, 'invalid_token']);
      expect(
        await judged(await send(method, path, boundHeaders(newDpopKey(), method, url, bound))),
      ).toEqual([401, 'invalid_token']);
      expect(
        await judged(await send(method, path, boundHeaders(key, method, url, 'garbage'))),
      ).toEqual([401, 'invalid_token']);
    },
  );

  test('a bound token in a form body is refused', async () => {
    const body = new URLSearchParams({ access_token: bound });
    const headers = { DPoP: proofFor(key, 'POST', urlOf('/oauth/userinfo'), bound) };
    const response = await fetch(urlOf('/oauth/userinfo'), { method: 'POST', body, headers });
    expect(await judged(response)).toEqual([401, 'invalid_token']);
  });

  /** Sends the request exactly as it is written here. */
  async function onTheWire(
    line: string,
    fields: readonly string[],
  ): Promise<{ readonly status: number; readonly reached: boolean }> {
    const { hostname, port } = new URL(running.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `${line} HTTP/1.1\r\nConnection: close\r\n${fields.map((each) => `${each}\r\n`).join('')}\r\n`,
    );
    const answer = await text(socket);
    return {
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]),
      reached: answer.includes('"orders":'),
    };
  }

  // @shows AS-12.12
  test.each(DOORS)(
    '%s %s: refuses more than one proof or more than one token',
    async (method, path, status) => {
      const fresh = () => {
        const headers = boundHeaders(key, method, urlOf(path), bound);
        return {
          token: `Authorization: ${headers['Authorization']}`,
          proof: `DPoP: ${headers['DPoP']}`,
        };
      };
      const answered = (
        make: (one: ReturnType<typeof fresh>, two: ReturnType<typeof fresh>) => readonly string[],
      ) =>
        onTheWire(`${method} ${path}`, [
          'Host: localhost',
          'Content-Length: 0',
          ...make(fresh(), fresh()),
        ]);
      expect((await answered(({ token, proof }) => [token, proof])).status).not.toBe(401);
      expect(status).not.toBe(401);
      for (const make of [
        (one, two) => [one.token, one.proof, two.proof],
        (one) => [one.token, one.proof, one.proof],
        (one) => [one.token, one.proof, 'DPoP: x'],
        (one) => [one.token, 'DPoP: x', one.proof],
        (one) => [one.token, 'Authorization: Bearer x', one.proof],
        (one) => [one.token, one.token, one.proof],
      ] as readonly Parameters<typeof answered>[0][])
        expect([make.toString(), (await answered(make)).status]).toEqual([make.toString(), 401]);
    },
  );

  // @shows AS-12.13
  test('a proof for the Host that the client sent, or for a path that parsers rewrite, is refused', async () => {
    const asked = async (line: string, host: string, htu: string) => {
      const headers = boundHeaders(key, 'GET', htu, bound);
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const lines = [
        `Host: ${host}`,
        `X-Forwarded-Host: ${host}`,
        `Forwarded: host=${host}`,
        ...fields,
      ];
      return (await onTheWire(line, lines)).reached;
    };
    const [line, own] = ['GET /api/orders', urlOf('/api/orders')];
    expect(await asked(line, 'localhost', own)).toBe(true);
    expect(await asked(line, 'evil.example', 'http://evil.example/api/orders')).toBe(false);
    expect(await asked(line, 'evil.example', 'https://evil.example/api/orders')).toBe(false);
    const absolute = 'GET http://evil.example/api/orders';
    expect(await asked(absolute, 'evil.example', 'http://evil.example/api/orders')).toBe(false);
    for (const [target, htu] of [
      ['//api/orders', own],
      ['/x/../api/orders', urlOf('/x/api/orders')],
      ['/x/%2e%2e/api/orders', urlOf('/x/%2e%2e%2fapi/orders')],
      ['/api\\orders', urlOf('/api%5Corders')],
    ] as const)
      expect([target, await asked(`GET ${target}`, 'localhost', htu)]).toEqual([target, false]);
  });

  // @shows RFC9449-7.1c, AS-12.14
  test('the challenge has the scheme of the request, or both schemes, and pages can read it', async () => {
    const metadata = `resource_metadata="${running.url}/.well-known/oauth-protected-resource/mcp"`;
    const algs = 'algs="RS256 PS256 ES256 EdDSA Ed25519"';
    const challenge = async (path: string, headers: Readonly<Record<string, string>>) => {
      const response = await send(path === '/mcp' ? 'POST' : 'GET', path, headers);
      expect(response.status).toBe(401);
      return response.headers.get('www-authenticate');
    };
    const api = `realm="oauth", scope="orders:read", ${metadata}`;
    expect(await challenge('/api/orders', {})).toBe(`Bearer ${api}, DPoP ${api}, ${algs}`);
    expect(await challenge('/mcp', {})).toBe(
      `Bearer ${metadata}, scope="mcp:tools", DPoP ${metadata}, scope="mcp:tools", ${algs}`,
    );
    expect(await challenge('/mcp', { Authorization: `DPoP ${bound}` })).toBe(
      `DPoP error="invalid_dpop_proof", ${metadata}, scope="mcp:tools", ${algs}`,
    );
    const used = await challenge('/api/orders', { Authorization: `DPoP ${bound}` });
    expect(used).toMatch(/^DPoP realm="oauth", error="invalid_dpop_proof", /);
    expect(used).not.toContain('Bearer');
    const exposed = (await send('GET', '/api/orders', {})).headers.get(
      'access-control-expose-headers',
    );
    expect(exposed).toContain('WWW-Authenticate, DPoP-Nonce');
  });

  // @shows MCP-8.21, RFC9728-2b
  test('the metadata announces DPoP, and pages may send proofs', async () => {
    const document = await fetch(urlOf('/.well-known/oauth-protected-resource/mcp'));
    expect(await document.json()).toMatchObject({
      dpop_bound_access_tokens_required: false,
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'EdDSA']),
    });
    for (const path of ['/mcp', '/oauth/userinfo']) {
      const preflight = await fetch(urlOf(path), {
        method: 'OPTIONS',
        headers: { Origin: PAGE, 'Access-Control-Request-Method': 'POST' },
      });
      expect(preflight.headers.get('access-control-allow-headers')?.split(', ')).toContain('DPoP');
    }
  });
});

describe('a proof must match the URL that was sent, even if the application rewrites the URL', () => {
  const renamed = (url = '') => url.replace('/sent', '/made');
  const answer = () => {
    token().requireUsable();
    return 'in';
  };
  const APPLICATIONS: readonly (readonly [
    string,
    (server: AuthorizationServer) => Promise<Server>,
  ])[] = [
    [
      'Koa',
      async (server) =>
        new Koa()
          .use(async (ctx, next) => {
            ctx.url = renamed(ctx.url);
            await next();
          })
          .use(ofKoa.bearer(server))
          .use((ctx) => {
            ctx.body = answer();
          })
          .listen(0, '127.0.0.1'),
    ],
    [
      'Fastify',
      async (server) => {
        const app = Fastify({ rewriteUrl: ({ url }) => renamed(url) });
        app.addHook('onRequest', ofFastify.bearer(server));
        app.setErrorHandler(ofFastify.bearerErrors);
        app.get('/made', async () => answer());
        await app.listen({ port: 0, host: '127.0.0.1' });
        return app.server;
      },
    ],
  ];

  // @shows AS-12.13
  test.each(APPLICATIONS)('%s', async (_, start) => {
    const portal = await startPortal({ config: { oauth_server: { dpop: 'accept' } } });
    const listening = await start(portal.server);
    if (!listening.listening) await once(listening, 'listening');
    try {
      const key = newDpopKey();
      const bound = await boundServiceToken(portal, key);
      const { port } = listening.address() as AddressInfo;
      const ask = (path: string) =>
        fetch(`http://127.0.0.1:${port}/sent`, {
          headers: boundHeaders(key, 'GET', `${portal.url}${path}`, bound),
        });
      expect([(await ask('/sent')).status, (await ask('/made')).status]).toEqual([200, 401]);
    } finally {
      listening.closeAllConnections();
      listening.close();
      await portal.close();
    }
  });
});

// @shows AS-24.7, RFC9449-9
test('DPoP nonces are required, and pages can read them', async () => {
  const key = newDpopKey();
  const mount = await mountNamed('portico/fastify');
  const running = await mount.start({ oauth_server: { dpop: 'accept', dpop_nonces: true } });
  try {
    const { id, secret } = await running.register({
      name: 'Robot',
      grants: ['client_credentials'],
      scopes: ['orders:read', 'mcp:tools'],
    });
    const client = { Authorization: `Basic ${btoa(`${id}:${secret}`)}` };
    const issue = (nonce: string | null) => {
      const url = `${running.url}/oauth/token`;
      const proof = proofFor(key, 'POST', url, null, nonce === null ? {} : { nonce });
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      return fetch(url, { method: 'POST', headers: { ...client, DPoP: proof }, body });
    };
    const asked = await issue(null);
    expect([asked.status, await asked.json()]).toMatchObject([400, { error: 'use_dpop_nonce' }]);
    const issued = await issue(asked.headers.get('dpop-nonce'));
    const { access_token: bound = '' } = (await issued.json()) as Readonly<Record<string, string>>;
    for (const [method, path, status] of DOORS) {
      const url = `${running.url}${path}`;
      const send = (nonce: string | null) =>
        fetch(url, {
          method,
          headers: {
            Accept: 'application/json, text/event-stream',
            ...(path === '/mcp' ? { 'Content-Type': 'application/json' } : {}),
            ...boundHeaders(key, method, url, bound, nonce === null ? {} : { nonce }),
          },
          ...(path === '/mcp'
            ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }
            : {}),
        });
      const { headers, status: refused } = await send(null);
      expect([path, refused]).toEqual([path, 401]);
      expect(headers.get('www-authenticate')).toContain('error="use_dpop_nonce"');
      // Only listed pages may read the headers of the MCP endpoint, and no page is listed.
      const exposed = headers.get('access-control-expose-headers') ?? '';
      expect([path, exposed.includes('DPoP-Nonce')]).toEqual([path, path !== '/mcp']);
      expect([path, (await send(headers.get('dpop-nonce'))).status]).toEqual([path, status]);
      expect([path, (await send('made up')).status]).toEqual([path, 401]);
    }
  } finally {
    await running.close();
  }
});
