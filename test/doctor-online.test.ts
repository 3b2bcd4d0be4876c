// @engines sqlite, long: it sends network requests, and does not use the database
import { once } from 'node:events';
import { readdir, readFile, rm, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mcp, mcpServerOf } from '@portico/mcp';
import {
  authorizationServerOf,
  defineApplication,
  examine,
  oauthServer,
  startApplication,
  type Check,
} from 'portico';
import { portico as inNode } from 'portico/node';
import { afterEach, describe, expect, test } from 'vitest';
import { portico, ROOT, start } from './support/console.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { startProxy, startServer, type ProxyOptions } from './support/reverse-proxy.ts';

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

function keep<T extends { close(): Promise<unknown> }>(each: T): T {
  opened.push(each);
  return each;
}

/**
 * A portal behind a chain of proxies, the outermost first; its public address is that of the
 * outermost proxy.
 */
async function behind(chain: readonly ProxyOptions[], trusted: number): Promise<RunningPortal> {
  const proxies = [];
  for (const options of chain) proxies.push(keep(await startProxy(options)));
  const config = { public_url: proxies[0]?.url ?? '', trusted_proxies: trusted };
  const portal = keep(await startPortal({ config }));
  for (const [index, proxy] of proxies.entries())
    proxy.leadTo(proxies[index + 1]?.port ?? Number(portal.env['PORT']));
  return portal;
}

/** The doctor's online findings, by part. */
async function examined(
  portal: RunningPortal,
  patience?: number,
): Promise<Readonly<Record<string, Check>>> {
  const options = { online: true, ...(patience === undefined ? {} : { patience }) };
  const { checks } = await examine(portal.application, portal.server, options);
  return Object.fromEntries(checks.map((check) => [check.part, check]));
}

/** Returns the findings if public_url leads to another server. */
async function examinedAt(publicUrl: string, patience?: number) {
  const portal = keep(await startPortal({ config: { public_url: publicUrl } }));
  return examined(portal, patience);
}

describe('oauth:server:doctor --online fetches the public address', () => {
  // @shows AS-13.25
  test.each([
    ['is fetched, if the application mounts the endpoint that serves it', true],
    ['is missing, if the application mounts only the authorization server', false],
  ])('and the metadata of the resource %s', async (_, mounts) => {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const storage = await mkdtemp(path.join(tmpdir(), 'portico-online-'));
    keep({ close: () => rm(storage, { recursive: true }) });
    const env = { APP_ENV: 'dev', STORAGE_DIR: storage };
    const definition = defineApplication({
      directory: storage,
      config: {
        public_url: url,
        log: { path: path.join(storage, 'app.log') },
        oauth_server: { name: 'Shop', audience: `${url}/mcp`, scopes: { 'orders:read': 'Orders' } },
        mcp: { oauth: { scopes_supported: ['orders:read'] } },
      },
      plugins: [
        oauthServer({
          host: {
            signedIn: async () => null,
            loadAccount: async () => null,
            holdsPermission: async () => false,
            loginUrl: '/login',
          },
        }),
        mcp(),
      ],
    });
    const application = keep(await startApplication(definition, { env }));
    await application.migrate();
    const server = authorizationServerOf(application);
    await server.keys.generate('RS256');
    const more = mounts ? [mcpServerOf(application)] : [];
    const mount = inNode(server, ...more);
    const listening = createServer((incoming, outgoing) => {
      void (async () => {
        if (!(await mount.handle(incoming, outgoing))) outgoing.writeHead(404).end();
      })();
    }).listen(port, 'localhost');
    await once(listening, 'listening');
    keep({ close: async () => once(listening.close(), 'close') });
    const { checks } = await examine(application, server, { online: true });
    const metadata = `${url}/.well-known/oauth-protected-resource/mcp`;
    const { outcome, detail, remedy } = checks.find(({ part }) => part === 'public resource') ?? {};
    const says = mounts ? `returns the metadata of ${url}/mcp` : 'returns 404';
    expect([outcome, detail]).toEqual([
      mounts ? 'ok' : 'failing',
      expect.stringContaining(`${metadata} ${says}`),
    ]);
    expect(remedy?.includes('portico(server, mcpServerOf(application))') ?? false).toBe(!mounts);
    expect(checks.find(({ part }) => part === 'endpoints')?.detail).not.toContain('--online');
  });

  test('and compares the metadata and the key set', async () => {
    const portal = await behind([{ appends: true }], 1);
    const found = await examined(portal);
    expect(found['public address']).toMatchObject({
      outcome: 'ok',
      detail: `${portal.url}/.well-known/openid-configuration returns this server's issuer`,
    });
    expect(found['public key set']).toMatchObject({
      outcome: 'ok',
      detail: expect.stringContaining(portal.server.config.key_path) as string,
    });
  });

  test('only with the option, and mentions the option otherwise', async () => {
    const { application, server } = keep(
      await startPortal({ config: { public_url: 'https://portal.invalid' } }),
    );
    const { checks, healthy } = await examine(application, server);
    expect(healthy).toBe(true);
    expect(checks.map(({ part }) => part)).not.toContain('public address');
    expect(checks.find(({ part }) => part === 'endpoints')?.detail).toMatch(
      /this process serves https:\/\/portal\.invalid\/.*add --online/,
    );
  });

  test('where no server is listening', async () => {
    const found = await examinedAt(`http://127.0.0.1:${await freePort()}`);
    expect(found['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        /^public_url: 127\.0\.0\.1:\d+ refuses connections \(ECONNREFUSED\)$/,
      ) as string,
      remedy: expect.stringContaining('PUBLIC_URL') as string,
    });
    expect(found['public address']?.remedy).not.toContain('base_path');
    expect(found['public key set']?.outcome).toBe('skipped');
    expect(found['proxies']?.outcome).toBe('skipped');
  });

  test('with an unknown host name', async () => {
    const found = await examinedAt('https://portal.invalid');
    expect(found['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        /^public_url: portal\.invalid (?:is not a known hostname|cannot be resolved now) \((?:ENOTFOUND|EAI_AGAIN)\)$/,
      ) as string,
    });
  });

  test('without TLS, or with an untrusted certificate', async () => {
    const plain = keep(await startServer((_, outgoing) => outgoing.end('{}')));
    const found = await examinedAt(plain.url.replace('http:', 'https:'));
    expect(found['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('does not speak TLS') as string,
    });
    const folder = path.join(import.meta.dirname, 'fixtures', 'tls');
    const tls = {
      key: await readFile(path.join(folder, 'key.pem'), 'utf8'),
      cert: await readFile(path.join(folder, 'certificate.pem'), 'utf8'),
    };
    const selfSigned = keep(await startServer((_, outgoing) => outgoing.end('{}'), tls));
    expect((await examinedAt(selfSigned.url))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        /has a certificate that this machine does not trust \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
      ) as string,
      remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
    });
  });

  test('that never responds', async () => {
    const silent = keep(await startServer(() => {}));
    expect((await examinedAt(silent.url, 0.1))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('does not respond within 0.1 seconds') as string,
    });
  });

  test('that never completes its response', async () => {
    const stalling = keep(
      await startServer((_, outgoing) => void outgoing.writeHead(200).write('{"issuer":')),
    );
    expect((await examinedAt(stalling.url, 0.5))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('does not respond within 0.5 seconds') as string,
    });
  });

  test('that redirects, or returns a page in place of JSON, without following the redirect', async () => {
    let asked = 0;
    const redirecting = keep(
      await startServer((_, outgoing) => {
        asked += 1;
        outgoing.writeHead(301, { Location: 'https://elsewhere.example/' }).end();
      }),
    );
    expect((await examinedAt(redirecting.url))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        /redirects \(301\) to https:\/\/elsewhere\.example\/; the doctor does not follow redirects/,
      ) as string,
    });
    expect(asked).toBe(1);
    const page = keep(
      await startServer((_, outgoing) => {
        outgoing.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>Not here');
      }),
    );
    expect((await examinedAt(page.url))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('returns 404 (text/html)') as string,
    });
  });

  test('with an Accept header for JSON, bypassing caches', async () => {
    const asked: IncomingHttpHeaders[] = [];
    const listening = keep(
      await startServer(({ headers }, outgoing) => {
        asked.push(headers);
        outgoing.end('{}');
      }),
    );
    await examinedAt(listening.url);
    expect(asked[0]).toMatchObject({ accept: 'application/json', 'cache-control': 'no-cache' });
  });

  test.each([
    ['with a different status', 500, (issuer: string) => JSON.stringify({ issuer })],
    ['that is not an object', 200, (issuer: string) => JSON.stringify(issuer)],
    [
      'of more than a megabyte',
      200,
      (issuer: string) => JSON.stringify({ issuer, padding: 'x'.repeat(1024 * 1024) }),
    ],
  ])('that returns a document %s', async (_, status, documentOf) => {
    const listening = keep(
      await startServer(({ headers }, outgoing) => {
        outgoing.writeHead(status, { 'Content-Type': 'application/json' });
        outgoing.end(documentOf(`http://${headers.host}`));
      }),
    );
    const own = listening.url.replace('localhost', '127.0.0.1');
    expect((await examinedAt(own))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining(
        `returns ${status} (application/json) instead of the server's JSON document`,
      ) as string,
    });
  });

  // @shows AS-13.15
  test('where a server with a different issuer responds', async () => {
    const other = keep(await startPortal());
    const own = other.url.replace('localhost', '127.0.0.1');
    expect((await examinedAt(own))['public address']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        `returns the issuer "${other.url}", but the issuer of this process is ${own}$`,
      ) as string,
    });
  });

  test('with a key that the doctor cannot read', async () => {
    const portal = keep(await startPortal());
    const { key_path: folder } = portal.server.config;
    const [name = ''] = await readdir(folder);
    // The running process has read the key, and keeps it.
    await writeFile(path.join(folder, name), 'not a key');
    const result = await portico(['oauth:server:doctor', '--online', '--json'], {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: '{}' },
    });
    expect(result.code).toBe(1);
    const { checks } = JSON.parse(result.stdout) as { checks: Check[] };
    const found = Object.fromEntries(checks.map((check) => [check.part, check]));
    expect(found['public address']?.outcome).toBe('ok');
    for (const part of ['signing key', 'public key set'])
      expect(found[part]).toMatchObject({
        outcome: 'failing',
        detail: `The signing key ${path.join(folder, name)} cannot be read`,
      });
    expect(found['proxies']?.outcome).toBe('skipped');
  });

  // @shows AS-13.15
  test('where a process with a different key directory responds', async () => {
    const proxy = keep(await startProxy());
    const config = { public_url: proxy.url };
    const here = keep(await startPortal({ config }));
    const there = keep(await startPortal({ config }));
    proxy.leadTo(Number(there.env['PORT']));
    const found = await examined(here);
    expect(found['public address']?.outcome).toBe('ok');
    expect(found['public key set']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        /^oauth_server:key_path: compared with .*, https?:.* does not have \S+, and also has \S+$/,
      ) as string,
    });
    expect(found['proxies']?.outcome).toBe('skipped');
  });

  // @shows AS-13.15
  test.each<[what: string, change: (keys: Record<string, string>[]) => unknown, says: RegExp]>([
    [
      'a different modulus',
      (keys) => keys.filter((key) => 'n' in key).map((key) => (key['n'] = 'AQAB')),
      / does not have \S+, and also has /,
    ],
    [
      'a different point',
      (keys) => keys.filter((key) => 'x' in key).map((key) => (key['x'] = 'AQAB')),
      / does not have \S+, and also has /,
    ],
    [
      'a different name',
      (keys) => keys.map((key) => (key['kid'] = 'AQAB')),
      / does not have .*, and also has AQAB/,
    ],
    ['a key less', (keys) => keys.shift(), /json does not have \S+$/],
    ['a key more', (keys) => keys.push({ ...keys[0], kid: 'more' }), /json also has more$/],
  ])('where a key set with %s is served', async (_, change, says) => {
    const front = keep(await startProxy());
    const portal = keep(await startPortal({ config: { public_url: front.url } }));
    await portal.server.keys.generate('EdDSA');
    const changed = async (url: string | undefined): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${portal.env['PORT']}${url}`);
      const document = (await response.json()) as { keys?: Record<string, string>[] };
      if (document.keys !== undefined) change(document.keys);
      return JSON.stringify(document);
    };
    const changing = keep(
      await startServer((incoming, outgoing) => {
        void changed(incoming.url).then((document) => outgoing.writeHead(200).end(document));
      }),
    );
    front.leadTo(Number(portal.env['PORT']));
    expect((await examined(portal))['public key set']?.outcome).toBe('ok');
    front.leadTo(Number(new URL(changing.url).port));
    expect((await examined(portal))['public key set']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(says) as string,
    });
  });
});

describe('the doctor checks what the process receives through the proxies', () => {
  test.each<[what: string, chain: readonly ProxyOptions[], trusted: number, says: string]>([
    [
      'no proxy that appends addresses',
      [{}],
      0,
      'no proxy appends to X-Forwarded-For; the process sees the address 127.0.0.1',
    ],
    [
      'one proxy',
      [{ appends: '198.51.100.7' }],
      1,
      '1 proxy appends to X-Forwarded-For; the process sees the address 198.51.100.7',
    ],
    [
      'one that removes earlier addresses',
      [{ appends: '198.51.100.7', forgets: true }],
      1,
      '1 proxy appends',
    ],
    ['one that writes ports', [{ appends: '198.51.100.7:4711' }], 1, '1 proxy appends'],
    [
      'one that gets the request from this machine',
      [{ appends: true }],
      1,
      'trusted_proxies should be 1',
    ],
    ['two proxies', [{ appends: '198.51.100.7' }, { appends: '10.0.0.2' }], 2, '2 proxies append'],
  ])('and passes with %s', async (_, chain, trusted, says) => {
    const found = await examined(await behind(chain, trusted));
    expect(found['proxies']).toMatchObject({ outcome: 'ok', remedy: null });
    expect(found['proxies']?.detail).toContain(says);
    const isUncertain = says.includes('should be');
    expect(found['proxies']?.detail.includes('trusted_proxies should be')).toBe(isUncertain);
  });

  test.each<
    [what: string, chain: readonly ProxyOptions[], trusted: number, says: RegExp, remedy: RegExp]
  >([
    [
      'trusted_proxies is too small, so every client has the address of the proxy',
      [{ appends: '198.51.100.7' }, { appends: '10.0.0.2' }],
      1,
      /sees the address 10\.0\.0\.2, but the outermost proxy saw 198\.51\.100\.7: 2 proxies append/,
      /set trusted_proxies to 2\./,
    ],
    [
      'trusted_proxies is not set',
      [{ appends: '198.51.100.7' }],
      0,
      /sees the address 127\.0\.0\.1, but the outermost proxy saw 198\.51\.100\.7/,
      /set trusted_proxies to 1\./,
    ],
    [
      'trusted_proxies is too large, so clients can forge their address',
      [{ appends: '198.51.100.7' }],
      2,
      /accepted a forged client address \(192\.0\.2\.123\)/,
      /set trusted_proxies to 1\./,
    ],
    [
      'trusted_proxies is set and no proxy appends',
      [{}],
      1,
      /accepted a forged client address/,
      /if there is a proxy in front of the process, make it append .*\. Otherwise, set trusted_proxies to 0\./,
    ],
  ])('and fails when %s', async (_, chain, trusted, says, remedy) => {
    const found = await examined(await behind(chain, trusted));
    expect(found['proxies']).toMatchObject({ outcome: 'failing' });
    expect(found['proxies']?.detail).toMatch(says);
    expect(found['proxies']?.remedy).toMatch(remedy);
  });

  // @shows AS-13.15
  test('and warns if the process sees a wrong caller address, and no proxy appends the right one', async () => {
    const found = await examined(await behind([{ from: '127.0.0.2' }], 0));
    expect(found['proxies']).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining(
        'the process sees the address 127.0.0.2, but this command sent the request from 127.0.0.1, and no proxy appends',
      ) as string,
      remedy: expect.stringContaining(
        'If a router translates addresses (NAT), the difference is normal',
      ) as string,
    });
  });

  // @shows AS-13.15
  test('and warns about a different host or scheme', async () => {
    const found = await examined(await behind([{ host: 'backend:3000', proto: 'https' }], 0));
    expect(found['proxies']).toMatchObject({
      outcome: 'warning',
      detail: expect.stringMatching(
        /sees the host backend:3000 instead of 127\.0\.0\.1:\d+.*X-Forwarded-Proto is https, but public_url uses http/,
      ) as string,
      remedy: expect.stringMatching(
        /proxy_set_header Host .*proxy_set_header X-Forwarded-Proto/,
      ) as string,
    });
  });

  // @shows AS-13.15
  test.each(['http', 'HTTP', 'http, https'])(
    'and passes if X-Forwarded-Proto is %s, and X-Forwarded-Host has the original host',
    async (proto) => {
      const portal = await behind([{ host: 'backend:3000', saysHost: true, proto }], 0);
      const { host } = new URL(portal.url);
      expect((await examined(portal))['proxies']).toMatchObject({
        outcome: 'ok',
        detail: expect.stringContaining(
          `sees the host backend:3000, and ${host} in X-Forwarded-Host; X-Forwarded-Proto is http`,
        ) as string,
      });
    },
  );

  test('and warns if the response lacks the report of the process', async () => {
    const found = await examined(await behind([{ drops: 'portico-doctor' }], 0));
    expect(found['proxies']).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining(
        'did not report which address and headers the process received',
      ) as string,
    });
  });

  test('with a signing key of any algorithm', async () => {
    const proxy = keep(await startProxy());
    const portal = keep(
      await startPortal({ config: { public_url: proxy.url }, signingKey: false }),
    );
    proxy.leadTo(Number(portal.env['PORT']));
    expect((await examined(portal))['proxies']).toMatchObject({ outcome: 'skipped' });
    await portal.server.keys.generate('EdDSA');
    expect((await examined(portal))['proxies']?.detail).toContain('the process sees');
  });

  // @shows AS-13.15
  test('without revealing anything to a caller that lacks the keys', async () => {
    const questions: string[] = [];
    // A proxy may record the request and replay it.
    const hears = ({ 'portico-doctor': question }: IncomingHttpHeaders) => {
      if (typeof question === 'string') questions.push(question);
    };
    const portal = await behind([{ hears }], 0);
    expect((await examined(portal))['proxies']?.detail).toContain('the process sees');
    const [question = ''] = questions;
    expect(question).not.toBe('');

    const document = `http://127.0.0.1:${portal.env['PORT']}/.well-known/openid-configuration`;
    const asked = async (header?: string) => {
      const answer = await fetch(
        document,
        header === undefined ? {} : { headers: { 'Portico-Doctor': header } },
      );
      const headers = [...answer.headers].filter(
        ([name]) => !['date', 'x-request-id'].includes(name),
      );
      return { status: answer.status, headers, body: await answer.text() };
    };
    const stranger = await asked();
    const [time, nonce, proof, kid] = question.split('.');
    const later = Number(time) + 1;
    const forged = [
      '',
      'x',
      `${later}.${nonce}.${proof}.${kid}`,
      `${time}.${nonce}.${'A'.repeat(43)}.${kid}`,
      `${time}.${nonce}.${proof}.other`,
    ];
    for (const header of forged) expect(await asked(header)).toEqual(stranger);
    const other = keep(await startPortal());
    const elsewhere = await fetch(`${other.url}/.well-known/openid-configuration`, {
      headers: { 'Portico-Doctor': question },
    });
    expect(elsewhere.headers.has('portico-doctor')).toBe(false);

    const replayed = await asked(question);
    expect(replayed.body).toBe(stranger.body);
    const sealed = new Map(replayed.headers).get('portico-doctor') ?? '';
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('127.0.0.1');
  });

  test('with a request that is valid for five minutes', async () => {
    const behindClock = Date.now() - 301_000;
    const proxy = keep(await startProxy());
    const portal = keep(
      await startPortal({ config: { public_url: proxy.url }, clock: () => behindClock }),
    );
    proxy.leadTo(Number(portal.env['PORT']));
    expect((await examined(portal))['proxies']).toMatchObject({ outcome: 'warning' });
  });
});

describe('oauth:server:doctor --online', () => {
  // @shows AS-13.15
  test('checks a running process, and exits with 1 for a wrong PUBLIC_URL', async () => {
    const storage = await mkdtemp(path.join(tmpdir(), 'portico-online-'));
    keep({ close: () => rm(storage, { recursive: true, force: true }) });
    const proxy = keep(await startProxy({ appends: '198.51.100.7' }));
    const PORT = String(await freePort());
    const env = { STORAGE_DIR: storage, PORT, PUBLIC_URL: proxy.url, APP_ENV: 'dev' };
    const cwd = path.join(ROOT, 'examples', 'portal');
    for (const command of [['db:migrate', 'up'], ['oauth:server:setup']])
      expect((await portico(command, { cwd, env })).code).toBe(0);
    const serving = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
      cwd,
      env,
    });
    keep({ close: () => serving.stop() });
    await serving.says('Listening');
    proxy.leadTo(Number(PORT));

    const right = await portico(['oauth:server:doctor', '--online'], { cwd, env });
    expect(right.stdout).toMatch(/^ok {7}public address {2,}http.* returns this server's issuer$/m);
    // There is a proxy, but no proxy is trusted.
    expect(right.stdout).toMatch(/^failing {2}proxies .*\n +→ set trusted_proxies to 1\./m);
    expect(right.code).toBe(1);

    const wrong = await portico(['oauth:server:doctor', '--online', '--json'], {
      cwd,
      env: { ...env, PUBLIC_URL: `http://localhost:${proxy.port}` },
    });
    expect(wrong.code).toBe(1);
    const { healthy, checks } = JSON.parse(wrong.stdout) as { healthy: boolean; checks: Check[] };
    expect(healthy).toBe(false);
    expect(checks.find(({ part }) => part === 'public address')?.detail).toContain(
      `returns the issuer "${proxy.url}"`,
    );
  });
});
