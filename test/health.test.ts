import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createHandler } from 'portico/fetch';
import {
  openDatabase,
  type AuthorizationServer,
  type Route,
  createAuthorizationServer,
  examine,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type Database,
  type Host,
  type Log,
  type LogContext,
} from 'portico';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { createClock } from './support/clock.ts';
import {
  registerClient,
  startPortal,
  type PortalOptions,
  type RunningPortal,
} from './support/portal.ts';
import { startServer } from './support/reverse-proxy.ts';

const READY = { status: 'ready', checks: { store: 'ok', schema: 'ok', key: 'ok' } };
const clock = createClock();
/** Longer than a probe's result is cached. */
const LATER = 2;

async function portalWith(options: PortalOptions = {}) {
  const portal = await startPortal({ clock: clock.now, ...options });
  onTestFinished(() => portal.close());
  return {
    portal,
    probe: (what: string, init: RequestInit = {}) => {
      clock.advance(LATER);
      return fetch(`${portal.url}/health/${what}`, init);
    },
    linesOf: async (text: string) => {
      const log = await readFile(
        path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'),
        'utf8',
      ).catch(() => '');
      return log.split('\n').filter((line) => line.includes(text));
    },
  };
}

describe('health probes in a kit application', () => {
  // @shows AS-29.1, AS-29.2
  test('get a short response with only the state of each part, which is never cached', async () => {
    const { probe } = await portalWith();
    const headers = { Cookie: 'portico_session=stale', Authorization: 'Bearer stale' };
    for (const [what, body] of [
      ['live', { status: 'live' }],
      ['ready', READY],
    ] as const) {
      const response = await probe(what, { headers });
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await response.json()).toEqual(body);
      const head = await probe(what, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      const posted = await probe(what, { method: 'POST' });
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  // @shows AS-29.1
  test('get an answer over HTTP/1.0 without a Host header, as HAProxy sends them by default', async () => {
    const { portal } = await portalWith();
    const { port } = new URL(portal.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET /health/ready HTTP/1.0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(JSON.stringify(READY));
  });

  // @shows AS-29.1
  test('are replaced by a route of the application on the same path, for every method and spelling', async () => {
    const own = (name: string, at: string, method: 'GET' | 'POST'): Route => ({
      name,
      path: at,
      methods: [method],
      handler: async () => new Response(name),
    });
    const { probe } = await portalWith({
      routes: () => [own('mine', '/health/{what}', 'GET'), own('posted', '/health/live', 'POST')],
    });
    const headers = { Authorization: 'Bearer anything' };
    expect(await (await probe('ready')).text()).toBe('mine');
    expect(await (await probe('live')).text()).toBe('mine');
    expect(await (await probe('live', { method: 'POST', headers })).text()).toBe('posted');
  });

  // @shows AS-29.1
  test('stay if a route with placeholders matches their paths only with other methods', async () => {
    const page: Route = {
      name: 'page',
      path: '/{section}/{page}',
      methods: ['POST'],
      handler: async ({ section }) => new Response(section),
    };
    const { probe } = await portalWith({ routes: () => [page] });
    expect(await (await probe('ready')).json()).toEqual(READY);
    const headers = { Authorization: 'Bearer anything' };
    expect(await (await probe('ready', { method: 'POST', headers })).text()).toBe('health');
  });

  // @shows AS-29.1
  test('can be moved to other paths or switched off', async () => {
    const moved = await portalWith({
      config: { oauth_server: { health: { live: false, ready: '/internal/ready' } } },
    });
    expect((await fetch(`${moved.portal.url}/internal/ready`)).status).toBe(200);
    expect([(await moved.probe('live')).status, (await moved.probe('ready')).status]).toEqual([
      404, 404,
    ]);
    const off = await portalWith({ config: { oauth_server: { health: false } } });
    expect([(await off.probe('live')).status, (await off.probe('ready')).status]).toEqual([
      404, 404,
    ]);
  });

  // @shows AS-29.1
  test.each([
    [{ live: 'live' }, 'health: live: must begin with /'],
    [{ ready: '' }, 'ready: must not be empty; to turn this probe off, set it to false'],
    [{ ready: '/oauth/token' }, 'ready: must not be below /oauth, which the other endpoints use'],
    [{ ready: '/oauth' }, 'ready: must not be below /oauth, which the other endpoints use'],
    [{ live: 5, ready: 6 }, 'health: live: Invalid input; ready: Invalid input'],
    [{ ready: '/health/live' }, 'live and ready must be different paths'],
    [{ started: '/health/started' }, /started/],
    ['/health', 'must be true, false or { live, ready }'],
  ])('cannot be configured as %j', (health, message) => {
    const parsed = oauthServerConfiguration.safeParse({ name: 'A', scopes: {}, health });
    const [issue] = parsed.error?.issues ?? [];
    expect([...(issue?.path ?? []), issue?.message].join(': ')).toMatch(message);
  });

  // @shows AS-29.1
  test.each([
    { live: '/internal/live', ready: '/internal/oauth' },
    { live: false, ready: false },
  ] as const)('can be configured as %j', (health) => {
    const parsed = oauthServerConfiguration.safeParse({ name: 'A', scopes: {}, health });
    expect(parsed.data?.health).toEqual(health);
  });

  test('are in the OpenAPI description', async () => {
    const { portal } = await portalWith({
      config: { oauth_server: { health: true, openapi: true } },
    });
    const response = await fetch(`${portal.url}/oauth/openapi.json`);
    const { paths } = (await response.json()) as { paths: object };
    expect(paths).toMatchObject({
      '/health/live': { get: { operationId: 'oauth_server_live', responses: { 200: {} } } },
      '/health/ready': {
        get: { operationId: 'oauth_server_ready', responses: { 200: {}, 503: {} } },
      },
    });
  });
});

describe('the doctor requests the readiness probe at its public URL', () => {
  async function findingOn(
    { application, server }: RunningPortal,
    changed: Partial<AuthorizationServer> = {},
  ) {
    const { checks } = await examine(application, { ...server, ...changed }, { online: true });
    return checks.find(({ part }) => part === 'readiness');
  }

  // @shows AS-29.12
  test('and reports that a process is ready', async () => {
    const { portal } = await portalWith();
    expect(await findingOn(portal)).toMatchObject({
      outcome: 'ok',
      detail: `${portal.url}/health/ready reports that a process is ready`,
    });
  });

  // @shows AS-29.12
  test('on the path from the configuration', async () => {
    const config = { oauth_server: { health: { ready: '/internal/ready' } } };
    const { portal } = await portalWith({ config });
    expect(await findingOn(portal)).toMatchObject({
      detail: `${portal.url}/internal/ready reports that a process is ready`,
    });
  });

  // @shows AS-29.12
  test('and warns that a process is stopping', async () => {
    const { portal } = await portalWith();
    portal.server.health.stop();
    expect(await findingOn(portal)).toMatchObject({
      outcome: 'warning',
      detail: `the request to ${portal.url}/health/ready reached a process that is stopping`,
    });
  });

  // @shows AS-29.12
  test('and reports which part is not ready', async () => {
    const { portal } = await portalWith();
    await portal.application.database.execute('DELETE FROM portico_migrations');
    expect(await findingOn(portal)).toMatchObject({
      outcome: 'failing',
      detail: `the request to ${portal.url}/health/ready reached a process that is not ready: schema failing`,
    });
  });

  // @shows AS-29.12
  test.each([
    ['not JSON', 'ok', 'did not reach any process from this machine'],
    ['null', 'ok', 'did not reach any process from this machine'],
    ['{"status":"odd\\u001b[2J"}', 'ok', 'did not reach any process from this machine'],
    ['{"status":"not_ready","checks":null}', 'failing', 'a process that is not ready: '],
    [
      '{"status":"not_ready","checks":{"store":"failing","schema":"unknown","key":"ok"}}',
      'failing',
      'a process that is not ready: store failing, schema unknown',
    ],
  ])('and reports for the answer %j: %s', async (answer, outcome, detail) => {
    const { portal } = await portalWith();
    const front = await startServer((_, outgoing) => outgoing.writeHead(503).end(answer));
    onTestFinished(() => front.close());
    expect(await findingOn(portal, { origin: front.url })).toMatchObject({
      outcome,
      detail: expect.stringContaining(detail) as string,
    });
  });

  // @shows AS-29.12
  test('unless an application without the kit has not turned it on', async () => {
    const { portal } = await portalWith();
    const { database } = portal.application;
    const application = { database, migrations: () => portal.application.migrations() };
    const { checks } = await examine(application, portal.server, { online: true });
    const parts = checks.map(({ part }) => part);
    expect(parts).toContain('public key set');
    expect(parts).not.toContain('readiness');
  });

  // @shows AS-29.12
  test('unless the probe is off', async () => {
    const { portal } = await portalWith({ config: { oauth_server: { health: false } } });
    expect(await findingOn(portal)).toBeUndefined();
  });
});

describe('the readiness probe reports not ready', () => {
  // @shows AS-29.3, AS-29.5
  test('while a schema step is missing, and the log reports the step once', async () => {
    const { portal, probe, linesOf } = await portalWith();
    const { database } = portal.application;
    const name = oauthServerMigrations.at(-1)?.name ?? '';
    await database.execute('UPDATE portico_migrations SET applied_at = 0 WHERE name = ?', [name]);
    const refused = await probe('ready');
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({
      status: 'not_ready',
      checks: { store: 'ok', schema: 'failing', key: 'ok' },
    });
    expect((await probe('live')).status).toBe(200);
    for (let times = 0; times < 5; times += 1) expect((await probe('ready')).status).toBe(503);
    const [line = '', ...more] = await linesOf('Not ready: schema');
    expect(line).toContain(name);
    expect(JSON.parse(line)).toMatchObject({ level: 'error', part: 'schema' });
    expect(more).toEqual([]);
    await database.execute('UPDATE portico_migrations SET applied_at = 1 WHERE name = ?', [name]);
    expect(await (await probe('ready')).json()).toEqual(READY);
    expect(await linesOf('schema is ready again')).toHaveLength(1);
  });

  // @shows AS-29.3
  test('while the key directory is missing', async () => {
    const { portal, probe } = await portalWith();
    expect(await (await probe('ready')).json()).toEqual(READY);
    const { key_path: keys } = portal.server.config;
    await rename(keys, `${keys}-gone`);
    // The key ring checks the directory again after ten milliseconds.
    await expect
      .poll(async () => (await probe('ready')).json())
      .toEqual({ status: 'not_ready', checks: { store: 'ok', schema: 'ok', key: 'failing' } });
    await rename(`${keys}-gone`, keys);
    await expect.poll(async () => (await probe('ready')).json()).toEqual(READY);
  });

  // @shows AS-29.3
  test('while the newest key cannot be read', async () => {
    const { portal, probe } = await portalWith({ signingKey: 'new' });
    const { key_path: keys } = portal.server.config;
    const [name = ''] = await readdir(keys);
    await writeFile(path.join(keys, `9${name}`), 'not a key');
    await expect
      .poll(async () => (await probe('ready')).json())
      .toEqual({ status: 'not_ready', checks: { store: 'ok', schema: 'ok', key: 'failing' } });
  });

  // @shows AS-29.3
  test('without a key, but only if a client needs one', async () => {
    const { portal, probe } = await portalWith({ signingKey: false });
    await registerClient(portal, { scopes: ['notes:read'] });
    expect(await (await probe('ready')).json()).toEqual(READY);
    await registerClient(portal, { scopes: ['openid', 'notes:read'] });
    expect(await (await probe('ready')).json()).toEqual({
      status: 'not_ready',
      checks: { store: 'ok', schema: 'ok', key: 'failing' },
    });
  });

  // @shows AS-29.3
  test('unless the key that a client needs exists', async () => {
    const { portal, probe } = await portalWith();
    await registerClient(portal, { scopes: ['openid', 'notes:read'] });
    expect(await (await probe('ready')).json()).toEqual(READY);
  });

  // @shows AS-29.6
  test('from the moment of the stop signal', async () => {
    const { portal, probe } = await portalWith();
    expect((await probe('ready')).status).toBe(200);
    await portal.application.events.emit('stopping', null);
    const refused = await probe('ready');
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { status: 'stopping', checks: {} },
    ]);
    expect((await probe('live')).status).toBe(200);
    expect((await fetch(`${portal.url}/oauth/token`, { method: 'POST' })).status).toBe(400);
  });
});

// --- in an application of another framework
// -------------------------------------------------------------------

let folder: string;
let created: TestDatabase;
let lines: (readonly [message: string, context: LogContext | undefined])[] = [];

const log: Log = {
  debug() {},
  info: (message, context) => void lines.push([message, context]),
  warning() {},
  error: (message, context) => void lines.push([message, context]),
};
const host: Host = {
  signedIn: async () => null,
  loadAccount: async () => null,
  holdsPermission: async () => false,
  loginUrl: '/login',
  passwordHasher: { hash: async () => '', verify: async () => false },
  log,
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-health-'));
  created = await createDatabase(folder);
});
afterAll(async () => {
  await created.drop();
  await rm(folder, { recursive: true });
});

/** A server on a store whose statements go through `execute`. */
async function serverOn(changed: (store: Database) => Partial<Database>, health?: boolean) {
  lines = [];
  const opened = openDatabase(created.url, { directory: '/' });
  onTestFinished(() => opened.close());
  await migrate(opened, oauthServerMigrations);
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: {},
    key_path: path.join(folder, 'keys'),
    ...(health === undefined ? {} : { health }),
  });
  const database = { ...opened, ...changed(opened) };
  const server = createAuthorizationServer({
    publicUrl: 'https://host.example',
    config,
    host,
    database,
    clock: clock.now,
  });
  const handle = createHandler(server);
  return {
    server,
    database: opened,
    probe: (what: string) => {
      clock.advance(LATER);
      return handle(new Request(`https://host.example/health/${what}`));
    },
  };
}

describe('health probes in an application of a different framework', () => {
  // @shows AS-29.1
  test('have the paths that the application chooses', async () => {
    const { probe } = await serverOn(() => ({}));
    expect([await probe('live'), await probe('ready')]).toEqual([null, null]);
    const asked = await serverOn(() => ({}), true);
    expect((await asked.probe('live'))?.status).toBe(200);
    expect(await (await asked.probe('ready'))?.json()).toEqual(READY);
  });

  // @shows AS-29.4
  test('do not reuse a result longer if the clock is set back', async () => {
    let isGone = false;
    const { server } = await serverOn((store) => ({
      execute: (...statement: Parameters<Database['execute']>) =>
        isGone ? Promise.reject(new Error('gone')) : store.execute(...statement),
    }));
    expect((await server.health.readiness()).status).toBe('ready');
    isGone = true;
    clock.advance(-3600);
    expect((await server.health.readiness()).status).toBe('not_ready');
    clock.advance(3600);
  });

  // @shows AS-29.5
  test('do not know whether a key is missing if the store fails after it was ready', async () => {
    let isGone = false;
    const { server } = await serverOn((store) => ({
      execute: (...statement: Parameters<Database['execute']>) =>
        isGone ? Promise.reject(new Error('gone')) : store.execute(...statement),
    }));
    expect(await server.health.readiness()).toEqual(READY);
    isGone = true;
    clock.advance(LATER);
    expect((await server.health.readiness()).checks).toEqual({
      store: 'failing',
      schema: 'unknown',
      key: 'unknown',
    });
  });

  // @shows AS-29.3
  test('report a key directory that cannot be read, also if the store fails', async () => {
    const { server } = await serverOn((store) => ({
      execute: (sql: string, ...more: unknown[]) =>
        sql.startsWith('UPDATE')
          ? Promise.reject(new Error('is read-only'))
          : (store.execute as (...statement: unknown[]) => Promise<never>)(sql, ...more),
      transaction: () => Promise.reject(new Error('is read-only')),
    }));
    const keys = path.join(folder, 'keys');
    await writeFile(keys, '');
    onTestFinished(() => rm(keys));
    expect((await server.health.readiness()).checks).toEqual({
      store: 'failing',
      schema: 'ok',
      key: 'failing',
    });
  });

  // @shows AS-29.4
  test('check the store once a second, regardless of the number of probes', async () => {
    let asked = 0;
    const { server } = await serverOn((store) => ({
      execute: (...statement: Parameters<Database['execute']>) => {
        asked += 1;
        return store.execute(...statement);
      },
    }));
    const flood = () => Promise.all(Array.from({ length: 300 }, () => server.health.readiness()));
    expect(new Set((await flood()).map(({ status }) => status))).toEqual(new Set(['ready']));
    const once = asked;
    expect(once).toBeLessThan(6);
    await flood();
    expect(asked).toBe(once);
    clock.advance(1);
    await flood();
    // Whether a key is missing is checked once a minute.
    expect(asked).toBe(2 * once - 1);
  });

  // @shows AS-29.4
  test('respond in time if the store hangs, wait for it once, and are ready when it responds', async () => {
    const hanging = Promise.withResolvers<void>();
    let [hangs, asked] = [true, 0];
    const { server, probe } = await serverOn(
      (store) => ({
        async execute(...statement: Parameters<Database['execute']>) {
          asked += 1;
          if (hangs) await hanging.promise;
          return store.execute(...statement) as never;
        },
      }),
      true,
    );
    const found = await probe('ready');
    expect(found?.status).toBe(503);
    expect(await found?.json()).toEqual({
      status: 'not_ready',
      checks: { store: 'failing', schema: 'unknown', key: 'unknown' },
    });
    expect((await probe('live'))?.status).toBe(200);
    const before = asked;
    clock.advance(LATER);
    const again = server.health.readiness();
    hangs = false;
    hanging.resolve();
    expect((await again).status).toBe('ready');
    expect(asked).toBeGreaterThanOrEqual(before);
    expect(lines.map(([message, context]) => [message, context?.['part']])).toEqual([
      ['Not ready: {part} fails: {exception}', 'store'],
      ['{part} is ready again', 'store'],
    ]);
  });

  // @shows AS-29.5
  test('cannot report a missing key while the store is unreachable', async () => {
    const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
    const { server } = await serverOn(() => ({ execute: () => Promise.reject(gone) }));
    expect((await server.health.readiness()).checks).toEqual({
      store: 'failing',
      schema: 'unknown',
      key: 'unknown',
    });
    expect(lines.map(([, context]) => context?.['part'])).toEqual(['store']);
  });

  // @shows AS-29.3
  test('report not ready for read-only SQLite, and leave no changes', async () => {
    const { probe, database } = await serverOn(() => ({}), true);
    const steps = async () => (await database.execute('SELECT name FROM portico_migrations')).rows;
    const before = await steps();
    expect((await probe('ready'))?.status).toBe(200);
    expect(await steps()).toEqual(before);
    if (database.dialect !== 'sqlite') return;
    await database.execute('PRAGMA query_only = ON');
    expect(await (await probe('ready'))?.json()).toMatchObject({
      checks: { store: 'failing', schema: 'ok' },
    });
    await database.execute('PRAGMA query_only = OFF');
    expect((await probe('ready'))?.status).toBe(200);
  });

  // @shows AS-29.2, AS-29.3
  test('report not ready for a store that refuses writes, with the reason only in the log', async () => {
    const { probe } = await serverOn(
      (store) => ({
        execute: (sql: string, ...more: unknown[]) =>
          sql.startsWith('UPDATE')
            ? Promise.reject(new Error('is read-only'))
            : (store.execute as (...statement: unknown[]) => Promise<never>)(sql, ...more),
        transaction: () => Promise.reject(new Error('is read-only')),
      }),
      true,
    );
    const refused = await probe('ready');
    expect(refused?.status).toBe(503);
    expect(await refused?.json()).toEqual({
      status: 'not_ready',
      checks: { store: 'failing', schema: 'ok', key: 'ok' },
    });
    expect(lines).toHaveLength(1);
  });
});
