import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  migrationStatus,
  type PasswordHasher,
  examine,
  oauthServerMigrations,
  type Check,
  type ClientPage,
  type Clients,
  type Database,
} from 'portico';
import { describe, expect, test } from 'vitest';
import { startDocumentHost } from './support/document-host.ts';
import { registerBanker } from './support/fapi2.ts';
import { CHEAP } from './support/hashers.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  REDIRECT_URI,
  registerClient,
  startPortal,
  type PortalOptions,
  type RunningPortal,
} from './support/portal.ts';

/** The doctor's check of one part, in a portal that was prepared this way. */
async function finding(
  part: string,
  options: PortalOptions,
  harm: (portal: RunningPortal) => Promise<unknown> = async () => {},
): Promise<Check | undefined> {
  const portal = await startPortal(options);
  try {
    await harm(portal);
    const { checks } = await examine(portal.application, portal.server);
    return checks.find((check) => check.part === part);
  } finally {
    await portal.close();
  }
}

async function withView(content: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-views-'));
  try {
    await mkdir(path.join(folder, 'oauth'));
    await writeFile(path.join(folder, 'oauth', 'consent.eta'), content);
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the doctor', () => {
  // @shows AS-8.3
  test('finds no problem in a working portal', async () => {
    const portal = await startPortal();
    try {
      await registerClient(portal);
      const { checks, healthy } = await examine(portal.application, portal.server);
      expect(healthy).toBe(true);
      // The test servers are not configured to survive a power cut.
      const known = portal.application.database.dialect === 'sqlite' ? [] : ['durability'];
      expect(checks.filter(({ outcome }) => outcome !== 'ok').map(({ part }) => part)).toEqual(
        known,
      );
      expect(checks.length).toBeGreaterThan(8);
    } finally {
      await portal.close();
    }
  });

  // @shows AS-8.3
  test('reads the clients page by page: of a million it keeps only those that it reports', async () => {
    const everything = { dpop: 'accept', private_key_jwt: true, registration: 'open' };
    const portal = await startPortal({
      config: { oauth_server: { ...everything, client_id_metadata_documents: true } },
    });
    try {
      await registerClient(portal);
      const asked: number[] = [];
      const clients = {
        list: () => Promise.reject(new Error('All of them at once')),
        async page(page?: ClientPage) {
          asked.push(page?.limit ?? 0);
          return portal.server.clients.page(page);
        },
      } as unknown as Clients;
      const { checks } = await examine(portal.application, { ...portal.server, clients });
      expect(checks.filter(({ outcome }) => outcome === 'failing')).toEqual([]);
      expect(checks.find(({ part }) => part === 'clients')?.detail).toBe('1 registered');
      expect(Math.max(...asked)).toBe(1000);
    } finally {
      await portal.close();
    }
  });

  // @shows AS-24.6, AS-25.8
  test('reports the clients that require a feature that is off', async () => {
    const portal = await startPortal({
      config: { oauth_server: { dpop: 'accept', pushed_authorization_requests: 'accept' } },
    });
    const demands = async (config: PortalOptions['config']) => {
      const options = { databaseUrl: portal.env['DATABASE_URL'] ?? '' };
      const other = await startPortal(config === undefined ? options : { ...options, config });
      try {
        const { checks, healthy } = await examine(other.application, other.server);
        const found = checks.filter(({ part }) => part === 'client demands');
        expect(healthy).toBe(found.length === 0);
        return found.map(({ outcome, detail }) => `${outcome}: ${detail}`);
      } finally {
        await other.close();
      }
    };
    try {
      const { id: bound } = await registerClient(portal, { dpopBoundAccessTokens: true });
      const { id: pushing } = await registerClient(portal, {
        requirePushedAuthorizationRequests: true,
      });
      const { id: revoked } = await registerClient(portal, { dpopBoundAccessTokens: true });
      await portal.server.clients.revoke(revoked);
      const ofPushing = expect.stringMatching(
        new RegExp(`^failing: oauth_server:pushed_authorization_requests is off, .*: ${pushing}$`),
      ) as string;
      expect(await demands(undefined)).toEqual([
        expect.stringMatching(new RegExp(`^failing: oauth_server:dpop is off, .*: ${bound}$`)),
        ofPushing,
      ]);
      expect(await demands({ oauth_server: { dpop: 'accept' } })).toEqual([ofPushing]);
      const both = { dpop: 'accept', pushed_authorization_requests: 'accept' };
      expect(await demands({ oauth_server: both })).toEqual([]);
    } finally {
      await portal.close();
    }
  });

  // @shows AS-13.30
  test('does not report a client with a document, which is read again when a person arrives', async () => {
    const host = await startDocumentHost();
    const all = {
      client_id_metadata_documents: true,
      dpop: 'accept',
      private_key_jwt: true,
      pushed_authorization_requests: 'accept',
      scopes: { 'old:read': { label: 'Read what was', permission: 'notes:read' } },
    };
    const portal = await startPortal({ outbound: host.outbound, config: { oauth_server: all } });
    try {
      const document = {
        client_name: 'Assistant',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        scope: 'openid old:read',
        id_token_signed_response_alg: 'ES256',
      };
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256' }] };
      const kinds = [
        {},
        { dpop_bound_access_tokens: true },
        { token_endpoint_auth_method: 'private_key_jwt', jwks },
      ];
      const urls = kinds.map((kind, index) =>
        host.publish(`/${index}.json`, { ...document, ...kind }),
      );
      const ada = await portal.signedIn(ADA);
      for (const id of urls) {
        const page = await ada.visit(
          authorizationUrl(portal, { id, secret: '' }, { scope: 'old:read' }),
        );
        expect(page.status).toBe(200);
        await ada.submit(page, { decision: 'allow' });
        expect((await portal.server.clients.find(id))?.registeredBy).toBe('document');
      }
      const later = await startPortal({
        databaseUrl: portal.env['DATABASE_URL'] ?? '',
        config: { oauth_server: { client_id_metadata_documents: true } },
      });
      try {
        const { checks, healthy } = await examine(later.application, later.server);
        const about = checks.filter(({ detail }) => urls.some((url) => detail.includes(url)));
        expect([healthy, about]).toEqual([true, []]);
        const parts = Object.fromEntries(checks.map((check) => [check.part, check]));
        expect(parts).not.toHaveProperty('client keys');
        expect(parts).not.toHaveProperty('client demands');
        expect(parts['clients']).toMatchObject({ outcome: 'ok', detail: '3 registered' });
        expect(parts['documents']).toMatchObject({
          detail: 'client documents are accepted from any host (known: 3, blocked: 0)',
        });
      } finally {
        await later.close();
      }
    } finally {
      await portal.close();
      await host.close();
    }
  });

  // @shows AS-13.31
  test('lists a rotation until the old secret expires, to the second, by the clock of the server', async () => {
    const clock = createClock();
    const portal = await startPortal({ clock: clock.now });
    try {
      const open = async () => (await examine(portal.application, portal.server)).open_rotations;
      const client = await registerClient(portal);
      clock.advance(1);
      const other = await registerClient(portal);
      expect(await open()).toEqual([]);
      await portal.server.clients.rotateSecret(client.id, 3600);
      await portal.server.clients.rotateSecret(other.id, 7200);
      const ends = Math.floor(clock.now() / 1000) + 3600;
      expect(await open()).toEqual([
        expect.objectContaining({ client_id: client.id, previous_secret_expires_at: ends }),
        expect.objectContaining({ client_id: other.id }),
      ]);
      const accepts = async () => {
        const answer = await fetch(`${portal.url}/oauth/revoke`, {
          method: 'POST',
          headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
          body: new URLSearchParams({ token: 'x' }),
        });
        return answer.status === 200;
      };
      clock.advance(3599);
      expect([(await open()).length, await accepts()]).toEqual([2, true]);
      clock.advance(1);
      expect([(await open()).length, await accepts()]).toEqual([1, false]);
      await portal.server.clients.revoke(other.id);
      expect(await open()).toEqual([]);
    } finally {
      await portal.close();
    }
  });

  // @shows AS-27.5
  test('reports what a server with the profile fapi2, and its clients, lack', async () => {
    const all = { dpop: 'accept', private_key_jwt: true, pushed_authorization_requests: 'accept' };
    const able = await startPortal({ config: { oauth_server: all } });
    const databaseUrl = able.env['DATABASE_URL'] ?? '';
    const ofProfile = async (portal: RunningPortal) => {
      const { checks, healthy } = await examine(portal.application, portal.server);
      expect(checks.map(({ part }) => part)).not.toContain('client demands');
      const { outcome, detail } = checks.find(({ part }) => part === 'profile') ?? {};
      expect(healthy).toBe(checks.every((check) => check.outcome !== 'failing'));
      return outcome === undefined ? null : `${outcome}: ${detail}`;
    };
    try {
      expect(await ofProfile(able)).toBeNull();
      const plain = await registerClient(able);
      expect(await ofProfile(able)).toBeNull();
      await able.server.keys.generate('ES256');
      const held = await registerBanker(able, { profile: 'fapi2' });
      expect(await ofProfile(able)).toMatch(/^ok: clients that must meet a profile: 1 /);

      const unable = await startPortal({ databaseUrl });
      try {
        expect(await ofProfile(unable)).toMatch(
          new RegExp(`^failing: these clients cannot get tokens.*: ${held.id}: `),
        );
      } finally {
        await unable.close();
      }
      await able.server.clients.revoke(held.id);
      expect(await ofProfile(able)).toBeNull();

      const config = { oauth_server: { profile: 'fapi2' } };
      const strict = await startPortal({ databaseUrl, config, signingKey: false });
      try {
        expect(await ofProfile(strict)).toMatch(/^failing: there is no signing key for \S+ or /);
        await strict.server.keys.generate('ES256');
        expect(await ofProfile(strict)).toMatch(
          new RegExp(`^warning: these clients cannot get tokens.*: ${plain.id}: `),
        );
        await able.server.clients.revoke(plain.id);
        expect(await ofProfile(strict)).toMatch(/^ok: every client must meet the profile/);
      } finally {
        await strict.close();
      }
    } finally {
      await able.close();
    }
  });

  test('works for an application without the kit, which has only a store and a schema', async () => {
    const portal = await startPortal();
    try {
      await registerClient(portal);
      const { database } = portal.application;
      const migrations = () => migrationStatus(database, oauthServerMigrations);
      const { checks, healthy } = await examine({ database, migrations }, portal.server);
      expect(healthy).toBe(true);
      const skipped = checks.filter(({ outcome }) => outcome === 'skipped').map(({ part }) => part);
      expect(skipped).toEqual(['sign-in route', 'endpoints', 'csrf_exempt_routes']);
    } finally {
      await portal.close();
    }
  });

  // @shows AS-13.17
  test('reports nothing about an engine that answers no questions about itself', async () => {
    const portal = await startPortal();
    try {
      const { database } = portal.application;
      const execute: Database['execute'] = (sql, ...more) =>
        /SHOW|PRAGMA|pg_|information_schema/.test(sql)
          ? Promise.reject(new Error('no such thing'))
          : database.execute(sql, ...more);
      const migrations = () => migrationStatus(database, oauthServerMigrations);
      const store = { dialect: database.dialect, execute };
      const { checks, healthy } = await examine({ database: store, migrations }, portal.server);
      expect(healthy).toBe(true);
      const ofEngine = checks.filter(({ detail }) => detail.includes('no such thing'));
      expect(ofEngine.map(({ outcome }) => outcome)).toEqual(ofEngine.map(() => 'skipped'));
      expect(ofEngine.length).toBeGreaterThan(1);
    } finally {
      await portal.close();
    }
  });

  test.each([
    ['1 in place of true', (isRight: boolean) => (isRight ? 1 : 0)],
    ['an object that contains the result', (isRight: boolean) => ({ isRight })],
  ])('reports a hasher that returns %s', async (_, said) => {
    const passwordHasher: PasswordHasher = {
      hash: (password) => CHEAP.hash(password),
      verify: async (password, hash) =>
        said(await CHEAP.verify(password, hash)) as unknown as boolean,
    };
    expect(await finding('password hasher', { passwordHasher })).toMatchObject({
      outcome: 'failing',
    });
  });

  // @shows AS-6.12
  test('reports an endpoint that the session-wide check blocks', async () => {
    expect(await finding('csrf_exempt_routes', {})).toMatchObject({
      outcome: 'ok',
      detail: 'the protocol endpoints are exempt from the CSRF check',
    });
    const config = { csrf_exempt_routes: { oauth_server_token: false } };
    expect(await finding('csrf_exempt_routes', { config })).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('oauth_server_token'),
    });
  });

  test('reports a custom consent view that throws or whose form cannot be answered', async () => {
    await withView('<p>\n<%= it.nothing.here %>', async (views) => {
      expect(await finding('views', { views })).toMatchObject({
        outcome: 'failing',
        detail: expect.stringContaining(
          `${path.join(views, 'oauth', 'consent.eta')}:2: `,
        ) as string,
      });
    });
    await withView(
      '<form method="post"><button name="decision">Yes</button></form>',
      async (views) => {
        expect(await finding('views', { views })).toMatchObject({
          outcome: 'failing',
          detail: expect.stringContaining('does not have request_id, csrf_token'),
        });
      },
    );
    await withView('<form><%= it.requestId %> <%= it.csrfToken %></form>', async (views) => {
      expect(await finding('views', { views })).toMatchObject({
        outcome: 'failing',
        detail:
          'the form in the view oauth/consent does not have decision, so Portico cannot accept its answers',
      });
    });
  });

  // @shows AS-1.7
  test('finds the sign-in route by its name, by its path, or as the host reports it', async () => {
    expect(await finding('sign-in route', {})).toMatchObject({ outcome: 'ok', detail: 'login' });
    const config = { oauth_server: { login_route: '/own/sign-in' } };
    expect(await finding('sign-in route', { config })).toMatchObject({
      outcome: 'ok',
      detail: '/own/sign-in',
    });
    const portal = await startPortal({ config: { oauth_server: { login_route: 'signin' } } });
    try {
      const host = {
        ...portal.server.host,
        loginUrl: (back: string) => `/of/the/host?back=${back}`,
      };
      const { checks } = await examine(portal.application, { ...portal.server, host });
      expect(checks.find(({ part }) => part === 'sign-in route')).toMatchObject({
        outcome: 'ok',
        detail: '/of/the/host',
      });
    } finally {
      await portal.close();
    }
  });

  // @shows AS-1.7
  test('reports a missing sign-in route', async () => {
    const config = { oauth_server: { login_route: 'signin' } };
    expect(await finding('sign-in route', { config })).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining("oauth_server:login_route: no route is named 'signin'"),
    });
  });

  // @shows AS-13.2
  test('reports a view that does not compile, with file and line, which the log of its page has too', async () => {
    await withView('<h1>\n<% if (it.person) { %>\n</h1>', async (views) => {
      const place = `${path.join(views, 'oauth', 'consent.eta')}:2: '{' is never closed`;
      const portal = await startPortal({ views });
      try {
        const { checks } = await examine(portal.application, portal.server);
        expect(checks.find(({ part }) => part === 'views')).toMatchObject({
          outcome: 'failing',
          detail: expect.stringContaining(place) as string,
        });
        const client = await registerClient(portal);
        const visitor = await portal.signedIn(ADA);
        expect((await visitor.visit(authorizationUrl(portal, client))).status).toBe(500);
        const log = await readFile(
          path.join(portal.application.storageDirectory, 'app.log'),
          'utf8',
        );
        expect(log).toContain(place);
      } finally {
        await portal.close();
      }
    });
  });

  test('warns about a view of the application that no page uses', async () => {
    await withView('<form>request_id csrf_token decision', async (views) => {
      await rm(path.join(views, 'oauth'), { recursive: true });
      await writeFile(path.join(views, 'news.eta'), '\n\n<%= it.name( %>');
      expect(await finding('views', { views })).toMatchObject({
        outcome: 'warning',
        detail: expect.stringContaining(`${path.join(views, 'news.eta')}:3: `) as string,
      });
    });
  });

  // @shows AS-13.2
  test('reports an unreadable signing key by name', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
      format: 'jwk',
    });
    const right = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      format: 'jwk',
    });
    const { d, p, q, dp, dq, qi } = right;
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
      format: 'jwk',
    });
    const keys = [
      '{',
      ...[
        weak,
        { ...right, alg: 'PS256' },
        { ...right, use: 'enc' },
        { ...other, d, p, q, dp, dq, qi },
        other,
      ].map((jwk) => JSON.stringify({ ...jwk, kid: 'torn' })),
    ];
    const portal = await startPortal();
    try {
      for (const [index, content] of keys.entries()) {
        const file = path.join(portal.server.config.key_path, '9000000000000-torn.json');
        await writeFile(file, content, { mode: 0o600 });
        const { checks } = await examine(portal.application, portal.server);
        const torn = checks.find(({ part }) => part === 'signing key');
        expect([index, torn]).toMatchObject([
          index,
          { outcome: 'failing', detail: expect.stringContaining('9000000000000-torn') as string },
        ]);
        await rm(file);
      }
    } finally {
      await portal.close();
    }
  });

  // @shows AS-13.2
  test('fails if other accounts can open a key or the key directory', async () => {
    const directory = await finding('signing key', {}, ({ server }) =>
      chmod(server.config.key_path, 0o750),
    );
    expect(directory).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(/other users can read \S+keys$/) as string,
      remedy: expect.stringMatching(/^run chmod -R go= '\S+keys'/) as string,
    });
    const file = await finding('signing key', {}, async ({ server }) => {
      const [name = ''] = await readdir(server.config.key_path);
      await chmod(path.join(server.config.key_path, name), 0o604);
    });
    expect(file).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(/other users can read \S+\.json$/) as string,
    });
  });

  test('reports a client with a scope that is no longer offered', async () => {
    const found = await finding('clients', {}, async (portal) => {
      await registerClient(portal);
      await portal.application.database.execute(
        "UPDATE oauth_clients SET scope = 'openid notes:erase'",
      );
    });
    expect(found).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('notes:erase'),
    });
  });

  // @shows AS-33.10
  test('reports an administrator permission that a scope requires too, by default or configuration', async () => {
    const found = (oauth_server: object) => finding('administration', { config: { oauth_server } });
    const warned = (scope: string) => ({
      outcome: 'warning',
      detail: expect.stringContaining(`the scope ${scope} requires the same permission`) as string,
    });
    expect(await found({ admin_permission: 'notes:read' })).toMatchObject(warned('notes:read'));
    const scopes = { 'team:read': { label: 'See your team', permission: 'portal:administer' } };
    expect(await found({ admin_permission: 'portal:administer', scopes })).toMatchObject(
      warned('team:read'),
    );
    expect(await found({ admin_permission: 'portal:administer' })).toBeUndefined();
    expect(await found({})).toBeUndefined();
  });

  test('accepts that there are no clients if clients can register themselves', async () => {
    const found = (oauth_server: object) =>
      finding('clients', { config: { oauth_server: { ...oauth_server } } });
    const alone = await found({});
    expect(alone).toMatchObject({ outcome: 'warning', detail: 'no client is registered' });
    expect(alone?.remedy).toMatch(/^run npx portico oauth:client:create/);
    expect(alone?.remedy).not.toContain('initial-access-token');
    expect(await found({ registration: 'open' })).toMatchObject({
      outcome: 'ok',
      detail: 'no client is registered yet; clients register themselves',
    });
    expect(await found({ client_id_metadata_documents: true })).toMatchObject({
      outcome: 'ok',
      detail: 'no client is registered yet; clients may be documents',
    });
    const byToken = await found({ registration: 'initial_access_token' });
    expect(byToken).toMatchObject({ outcome: 'warning', detail: 'no client is registered' });
    expect(byToken?.remedy).toContain('npx portico oauth:initial-access-token:create');
  });

  // @shows AS-13.25
  test('reports which clients registered themselves, and whether registration is possible', async () => {
    const registering = (
      mode: string,
      harm: (portal: RunningPortal) => Promise<unknown> = async () => {},
    ) => finding('registration', { config: { oauth_server: { registration: mode } } }, harm);
    const register = (portal: RunningPortal) =>
      fetch(`${portal.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
      });
    expect(await registering('off')).toBeUndefined();
    expect(await registering('open', register)).toMatchObject({
      outcome: 'ok',
      detail: 'any client can register; clients that registered themselves: 1 (never used: 1)',
    });
    expect(await registering('initial_access_token')).toMatchObject({
      outcome: 'warning',
      detail:
        'no client can register, because there is no valid initial access token; clients that ' +
        'registered themselves: 0 (never used: 0)',
      remedy: 'run npx portico oauth:initial-access-token:create',
    });
    const withToken = (portal: RunningPortal) => portal.server.initialAccessTokens.create({});
    expect(await registering('initial_access_token', withToken)).toMatchObject({ outcome: 'ok' });
    const used = async (portal: RunningPortal) => {
      await register(portal);
      await register(portal);
      const [first] = await portal.server.clients.list();
      await portal.application.database.execute(
        'UPDATE oauth_clients SET used_at = created_at WHERE client_id = ?',
        [first?.id ?? ''],
      );
    };
    expect(await registering('open', used)).toMatchObject({
      detail: 'any client can register; clients that registered themselves: 2 (never used: 1)',
    });
    const revoked = async (portal: RunningPortal) => {
      const { client_id: id } = (await (await register(portal)).json()) as { client_id: string };
      await portal.server.clients.revoke(id);
    };
    expect(await registering('open', revoked)).toMatchObject({
      detail: 'any client can register; clients that registered themselves: 0 (never used: 0)',
    });
  });

  // @shows AS-13.25
  test('warns once the last initial access token has expired or was used up, to the second', async () => {
    const clock = createClock();
    const config = { oauth_server: { registration: 'initial_access_token' } };
    const portal = await startPortal({ clock: clock.now, config });
    try {
      const outcome = async () => {
        const { checks } = await examine(portal.application, portal.server);
        return checks.find(({ part }) => part === 'registration')?.outcome;
      };
      await portal.server.initialAccessTokens.create({ lifetime: 60 });
      clock.advance(59);
      expect(await outcome()).toBe('ok');
      clock.advance(1);
      expect(await outcome()).toBe('warning');
      const { token } = await portal.server.initialAccessTokens.create({ uses: 1 });
      expect(await outcome()).toBe('ok');
      const used = await fetch(`${portal.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
      });
      expect([used.status, await outcome()]).toEqual([201, 'warning']);
    } finally {
      await portal.close();
    }
  });

  // @shows AS-13.25
  test('reports from which hosts metadata documents are, and which are blocked', async () => {
    const block = (portal: RunningPortal) =>
      portal.server.clients.revoke('https://client.example/client.json');
    const documents = (switched: boolean | { allowed_hosts: string[] }, harm = block) =>
      finding(
        'documents',
        { config: { oauth_server: { client_id_metadata_documents: switched } } },
        harm,
      );
    expect(await documents(false)).toBeUndefined();
    expect(await documents(true)).toMatchObject({
      outcome: 'ok',
      detail: 'client documents are accepted from any host (known: 0, blocked: 1)',
    });
    expect(await documents({ allowed_hosts: ['client.example', '*.other.example'] })).toMatchObject(
      {
        detail:
          'client documents are accepted from client.example, *.other.example (known: 0, blocked: 1)',
      },
    );
  });

  // @shows AS-13.25
  test('checks the metadata that challenges link to, also if a route of the application replaces it', async () => {
    const challenging = (url: string) => ({
      oauth_server: { challenge: true, audience: `${url}/api` },
    });
    expect(await finding('resource', {})).toBeUndefined();
    const elsewhere = { oauth_server: { audience: 'https://api.elsewhere.example/' } };
    expect(await finding('resource', { config: elsewhere })).toBeUndefined();
    const unchallenged = (url: string) => ({ oauth_server: { audience: `${url}/api` } });
    expect(await finding('resource', { config: unchallenged })).toBeUndefined();
    expect(await finding('resource', { config: challenging })).toMatchObject({
      outcome: 'ok',
      detail: expect.stringMatching(
        /^(http:\S+)\/\.well-known\/oauth-protected-resource\/api returns the metadata of \1\/api \(scopes: notes:read notes:write\)$/,
      ) as string,
    });
    const hooked = await startPortal({ config: challenging });
    try {
      const application = {
        ...hooked.application,
        fetch: async () => Response.json({ resource: 'https://other.example/' }),
      };
      const { checks } = await examine(application, hooked.server);
      expect(checks.find(({ part }) => part === 'resource')).toMatchObject({
        outcome: 'failing',
        detail: expect.stringContaining('returns 200 instead of the metadata of') as string,
      });
    } finally {
      await hooked.close();
    }
  });

  // @shows AS-1.7
  // @shows AS-29.11
  test('reports a store that answers reads and refuses writes', async () => {
    const portal = await startPortal();
    const { application } = portal;
    const { database } = application;
    const migrations = () => application.migrations();
    const readOnly: Pick<Database, 'dialect' | 'execute'> = {
      dialect: database.dialect,
      async execute(sql, parameters) {
        if (/^(?:UPDATE|INSERT|DELETE)/.test(sql)) throw new Error('this store is read-only');
        return database.execute(sql, parameters);
      },
    };
    const of = async (store: Pick<Database, 'dialect' | 'execute'>) => {
      const { checks } = await examine({ database: store, migrations }, portal.server);
      return checks.findLast(({ part }) => part === 'store');
    };
    try {
      expect(await of(readOnly)).toMatchObject({
        outcome: 'failing',
        detail: expect.stringMatching(/does not accept writes: this store is read-only$/) as string,
        remedy: expect.stringContaining('no other process locks the database file') as string,
      });
      expect(await of(database)).toMatchObject({
        outcome: 'ok',
        detail: expect.stringMatching(/accepts writes$/) as string,
      });
    } finally {
      await portal.close();
    }
  });

  test('reports a store that is down', async () => {
    const portal = await startPortal();
    await portal.application.database.close();
    const { checks, healthy } = await examine(portal.application, portal.server);
    expect(healthy).toBe(false);
    const outcomes = Object.fromEntries(checks.map(({ part, outcome }) => [part, outcome]));
    expect(outcomes).toMatchObject({
      store: 'failing',
      schema: 'skipped',
      durability: 'skipped',
      clients: 'skipped',
    });
    await portal.close();
  });

  test('fails if an endpoint is served by something else: a different issuer or status', async () => {
    const portal = await startPortal();
    try {
      const found = async (answer: Response) => {
        const application = { ...portal.application, fetch: async () => answer };
        const { checks } = await examine(application, portal.server);
        return checks.find(({ part }) => part === 'endpoints');
      };
      const document = { issuer: portal.url };
      expect(await found(Response.json(document))).toMatchObject({ outcome: 'ok' });
      const failing = {
        outcome: 'failing',
        remedy: expect.stringContaining('sends this response') as string,
      };
      const another = { issuer: 'https://other.example' };
      expect(await found(Response.json(another))).toMatchObject(failing);
      expect(await found(Response.json(document, { status: 404 }))).toMatchObject(failing);
    } finally {
      await portal.close();
    }
  });

  test('does not fetch endpoints that the application mounts itself', async () => {
    const config = { oauth_server: { routes: false } };
    const found = await finding('endpoints', { config });
    expect(found).toMatchObject({
      outcome: 'skipped',
      detail: expect.stringContaining('oauth_server:routes'),
    });
  });
});
