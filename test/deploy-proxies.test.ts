// @engines sqlite, needs nginx caddy: it tests proxies in front of a process
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { porticoHere, ROOT, start, type RunningProcess } from './support/console.ts';
import { freePort } from './support/free-port.ts';
import {
  askProxy,
  handshake,
  HOST,
  makeRsaCertificate,
  PROXIES,
  type Asking,
  type DeployedProxy,
  type ProxyChanges,
} from './support/proxies.ts';

/** The files of examples/deploy, read by their own programs, in front of `portico serve`. */
const APPLICATION = path.join(ROOT, 'test', 'fixtures', 'deployed');
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** With an RSA key; section 4.2 of RFC 9325. */
const RECOMMENDED = ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384'];
/**
 * All others that OpenSSL knows: without forward secrecy, with CBC, with finite fields, and those
 * that RFC 9325 does not name.
 */
const NOT_RECOMMENDED = ['ALL', ...RECOMMENDED.map((name) => `!${name}`), '@SECLEVEL=0'].join(':');

let folder: string;
let root: Portico;
let below: Portico;

interface Portico {
  readonly port: number;
  readonly process: RunningProcess;
}

async function serve(changes: Readonly<Record<string, string>> = {}): Promise<Portico> {
  const port = await freePort();
  const env = {
    PUBLIC_URL: `https://${HOST}`,
    STORAGE_DIR: folder,
    EVENTS_TO: path.join(folder, 'events'),
    PORT: String(port),
    ...changes,
  };
  const up = await porticoHere(['db:migrate', 'up'], { cwd: APPLICATION, env });
  if (up.code !== 0) throw new Error(up.stderr);
  const args = [
    path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
    'serve',
    '--hostname=127.0.0.1',
  ];
  const process = start(args, { cwd: APPLICATION, env });
  await process.says('Listening on');
  return { port, process };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-deploy-'));
  [root, below] = [await serve(), await serve({ BASE_PATH: '/auth' })];
});
afterAll(async () => {
  await Promise.all([root, below].map(({ process }) => process.stop()));
  await rm(folder, { recursive: true });
});

/** The application's events after this many. */
function eventsAfter(
  count: number,
): readonly { readonly type: string; readonly address?: string }[] {
  const file = path.join(folder, 'events');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.slice(count).map((line) => JSON.parse(line) as { type: string; address?: string });
}

describe.each(PROXIES)('$name, with its file in examples/deploy', (program) => {
  let proxy: DeployedProxy;
  let pathProxy: DeployedProxy;
  beforeAll(async () => {
    const begun = async (name: string, { port }: Portico) =>
      program.start(name, await mkdtemp(path.join(folder, 'proxy-')), port);
    proxy = await begun(program.files.host, root);
    pathProxy = await begun(program.files.path, below);
  });
  afterAll(() => Promise.all([proxy, pathProxy].map((each) => each.stop())));

  const ask = (target: string, asking: Asking = {}) =>
    askProxy(proxy.port, target, { from: program.from, ...asking });
  const wrongSecret = {
    grant_type: 'client_credentials',
    client_id: 'unknown',
    client_secret: 'wrong',
  };
  const form = new URLSearchParams(wrongSecret).toString();

  // @shows HOST-1.7
  // @shows RFC9700-4.13b
  test('terminates TLS and forwards the caller address; addresses claimed by the caller are ignored', async () => {
    const discovery = await ask('/.well-known/openid-configuration');
    expect(JSON.parse(discovery.body)).toMatchObject({ issuer: `https://${HOST}` });
    for (const forged of ['192.0.2.66', '192.0.2.66, 192.0.2.67', 'nonsense']) {
      const before = eventsAfter(0).length;
      const headers = {
        ...FORM,
        'x-forwarded-for': forged,
        'x-real-ip': forged,
        forwarded: `for=${forged}`,
      };
      expect((await ask('/oauth/token', { method: 'POST', headers, body: form })).status).toBe(401);
      expect(eventsAfter(before)).toMatchObject([
        { type: 'client_authentication_failed', address: program.from },
      ]);
    }
  });

  test('sends the HSTS header only once, even if the application sends it too', async () => {
    const below = (target: string) => askProxy(pathProxy.port, target, { from: program.from });
    const answers = [
      await ask('/.well-known/openid-configuration'),
      await ask('/oauth/token', { method: 'POST', headers: FORM, body: form }),
      await ask('/strict'),
      await ask('/health/live'),
      await ask('/nothing'),
      await below('/auth/.well-known/openid-configuration'),
      await below('/'),
    ];
    for (const { headers } of answers)
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
  });

  test('uses TLS 1.3, or 1.2 with a suite that RFC 9325 recommends, and nothing else', async () => {
    const rsa = makeRsaCertificate(folder);
    for (const [file, { port }] of [
      [program.files.host, root],
      [program.files.path, below],
    ] as const) {
      const own = await program.start(file, await mkdtemp(path.join(folder, 'tls-')), port, {
        certificate: rsa,
      });
      const suite = (name: string) => handshake(own.port, ['-tls1_2', '-cipher', name]);
      try {
        expect(handshake(own.port, ['-tls1_3'])).toMatch(/^TLS_AES_/);
        for (const name of RECOMMENDED) expect(suite(name)).toBe(name);
        expect(suite(NOT_RECOMMENDED)).toBe('SSL alert number 40');
        for (const version of ['-tls1_1', '-tls1'])
          expect([version, handshake(own.port, [version, '-cipher', 'ALL:@SECLEVEL=0'])]).toEqual([
            version,
            'SSL alert number 70',
          ]);
      } finally {
        await own.stop();
      }
    }
    expect(handshake(proxy.port, ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES256-GCM-SHA384'])).toBe(
      'ECDHE-ECDSA-AES256-GCM-SHA384',
    );
  });

  test('passes large bodies up to a limit, and the longest valid requests', async () => {
    const post = (size: number) =>
      ask('/oauth/token', { method: 'POST', headers: FORM, body: `a=${'b'.repeat(size)}` });
    const refused = await post(100_000);
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      413,
      expect.objectContaining({ error: 'invalid_request' }),
    ]);
    expect((await post(3_000_000)).status).toBe(413);
    const long = await ask(`/oauth/authorize?client_id=unknown&state=${'s'.repeat(12_000)}`);
    expect([long.status, long.headers['x-request-id']]).toEqual([400, expect.any(String)]);
  });

  test('does not delay the events of a stream', async () => {
    const heard: string[] = [];
    const first = Promise.withResolvers<void>();
    const streaming = ask('/mcp', {
      hears(part) {
        heard.push(part);
        first.resolve();
      },
    });
    await first.promise;
    expect(heard.join('')).toBe('data: first\n\n');
    await ask('/go-on');
    expect((await streaming).body).toBe('data: first\n\ndata: second\n\n');
  });

  /** Starts the proxy with each of its files, in front of this server. */
  const inFrontOf = <T>(
    listener: RequestListener,
    use: (port: number, base: string) => Promise<T>,
    changes: ProxyChanges = {},
  ) =>
    Promise.all(
      [program.files.host, program.files.path].map(async (file) => {
        const server = createServer(listener);
        await once(server.listen(0, '127.0.0.1'), 'listening');
        const { port } = server.address() as AddressInfo;
        const own = await program.start(
          file,
          await mkdtemp(path.join(folder, 'own-')),
          port,
          changes,
        );
        try {
          return await use(own.port, file === program.files.path ? '/auth' : '');
        } finally {
          await own.stop();
          server.close();
          server.closeAllConnections();
        }
      }),
    );

  test('waits longer for a tool than for any other response', async () => {
    const tools = new Map<string, () => void>();
    const called = Promise.withResolvers<void>();
    const statuses = await inFrontOf(
      ({ url = '' }, response) => {
        if (!url.endsWith('/mcp')) return;
        tools.set(url, () => response.end('done'));
        if (tools.size === 2) called.resolve();
      },
      async (port, base) => {
        const tool = askProxy(port, `${base}/mcp`, { from: program.from });
        await called.promise;
        const other = await askProxy(port, `${base}/oauth/token`, { from: program.from });
        tools.get(`${base}/mcp`)?.();
        return [other.status, (await tool).status];
      },
      { line: [`${program.patience} 60s`, `${program.patience} 1s`] },
    );
    expect(statuses).toEqual([
      [504, 200],
      [504, 200],
    ]);
  });

  test('passes the longest redirects, with a long state and a cookie', async () => {
    const location = `https://client.example/?state=${'s'.repeat(10_000)}`;
    const headers = { Location: location, 'Set-Cookie': `sid=${'c'.repeat(4000)}` };
    const answers = await inFrontOf(
      (_, response) => response.writeHead(302, headers).end(),
      (port) => askProxy(port, '/auth/oauth/authorize', { from: program.from }),
    );
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 302, headers: { location } });
  });

  test('closes an idle connection before Node does, so that no request goes to a closed connection', async () => {
    const closed: Promise<'the proxy' | 'Node'>[] = [];
    await inFrontOf(
      ({ socket }, response) => {
        closed.push(
          new Promise((resolve) => {
            socket.once('end', () => resolve('the proxy'));
            socket.once('timeout', () => resolve('Node'));
          }),
        );
        response.end();
      },
      async (port) => {
        await askProxy(port, '/auth/oauth/token', { from: program.from });
        await Promise.all(closed);
      },
    );
    expect(await Promise.all(closed)).toEqual(['the proxy', 'the proxy']);
  });

  test('does not expose the health endpoint', async () => {
    expect((await fetch(`http://127.0.0.1:${root.port}/health/ready`)).status).toBeLessThan(504);
    const ways = [
      '/health/ready',
      '/health/live',
      '//health/live',
      '/./health/live',
      '/health%2Flive',
      '/x/../health/live',
    ];
    for (const way of ways) {
      const { status, body } = await ask(way);
      expect([way, status >= 400, body.includes('"status"')]).toEqual([way, true, false]);
    }
  });

  test('with Portico below a path, forwards only the paths of Portico', async () => {
    const at = (target: string, asking: Asking = {}) =>
      askProxy(pathProxy.port, target, { from: program.from, ...asking });
    const documents = [
      '/.well-known/oauth-authorization-server/auth',
      '/.well-known/openid-configuration/auth',
      '/auth/.well-known/openid-configuration',
    ];
    for (const document of documents) {
      const { body } = await at(document);
      expect([document, JSON.parse(body)]).toEqual([
        document,
        expect.objectContaining({ issuer: `https://${HOST}/auth` }),
      ]);
    }
    const token = await at('/auth/oauth/token', { method: 'POST', headers: FORM, body: form });
    expect([token.status, JSON.parse(token.body)]).toEqual([
      401,
      { error: 'invalid_client', error_description: expect.any(String) as string },
    ]);
    for (const other of [
      '/',
      '/oauth/token',
      '/auth/health/ready',
      '/authors',
      '/.well-known/openid-configuration',
    ])
      expect([other, (await at(other)).status]).toEqual([other, 404]);
  });

  test('reloads while a request is running, and the request still completes', async () => {
    const rest = Promise.withResolvers<string>();
    const headers = { ...FORM, 'content-length': String(form.length) };
    const answer = ask('/oauth/token', {
      method: 'POST',
      headers,
      body: [form.slice(0, 20), rest.promise],
    });
    // Its connection is open, because a later one is answered.
    await ask('/.well-known/jwks.json');
    proxy.reload(program.header);
    await expect
      .poll(async () => (await ask('/.well-known/jwks.json')).headers['x-generation'], {
        timeout: 20_000,
      })
      .toBe('2');
    rest.resolve(form.slice(20));
    const { status, headers: answered } = await answer;
    expect([status, answered['x-generation']]).toEqual([401, undefined]);
  });

  test('limits the request rate of each caller separately', async () => {
    const statusFrom = async (from: string, forged: string) => {
      const headers = { ...FORM, 'x-forwarded-for': forged };
      return (await ask('/oauth/token', { method: 'POST', headers, body: form, from })).status;
    };
    // An attacker sends another address each time.
    const guesses: number[] = [];
    for (let guess = 0; guess < 40 && guesses.at(-1) !== 429; guess += 1)
      guesses.push(await statusFrom(program.from, `192.0.2.${guess}`));
    expect(guesses.at(-1)).toBe(429);
    expect(await statusFrom(program.from.replace('127.0.0.', '127.0.1.'), '192.0.2.1')).toBe(401);
  });
});
