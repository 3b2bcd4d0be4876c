// @engines sqlite, long: it reads the tables of other servers, and each page shows one query
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PasswordHasher } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { portico, ROOT } from './support/console.ts';
import { blocksOf } from './support/documents.ts';
import { requestToken, startPortal, type RunningPortal } from './support/portal.ts';

/** Tests `docs/moving/` with a table of each server. Its clients move here with their secrets. */

const CONFIG = { oauth_server: { imported_pbkdf2_iterations: 1_000_000 } };
/** From the tables that the libraries wrote, with the secrets that they issued. */
const BETTER_AUTH = {
  shop: 'WLzuLfxUBFgCOoAoRSHsiLuDkBksPopW',
  robot: 'wklhTRdCDtYvDotZZLLqLZZvSLOpyoSW',
};

let portal: RunningPortal;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-moving-'));
  portal = await startPortal({ config: CONFIG, random: () => 0 });
});
afterAll(async () => {
  await portal.close();
  await rm(folder, { recursive: true, force: true });
});

const fixture = (name: string) =>
  readFileSync(path.join(ROOT, 'test', 'fixtures', 'moving', name), 'utf8');

/** The rows that the query of the page finds in the table. */
function exported(
  page: string,
  change: (query: string) => string = (query) => query,
): readonly object[] {
  const [query = ''] = blocksOf(page, readFileSync(path.join(ROOT, page), 'utf8')).flatMap(
    ({ info, code }) => (info[0] === 'sql' ? [code] : []),
  );
  const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false });
  database.exec(fixture(`${path.basename(page, '.md')}.sql`));
  return database.prepare(change(query)).all();
}

async function imported(records: readonly object[]) {
  const { written, clients } = await portal.server.importing.clients(records, { by: 'console' });
  return {
    written,
    clients: clients.map(({ clientId, problem, changes }) => [clientId, problem ?? changes]),
  };
}

/** Whether the token endpoint accepts the secret of this client. */
async function proves(id: string, secret: string): Promise<boolean> {
  const form = { grant_type: 'refresh_token', refresh_token: 'none' };
  return (await requestToken(portal, { id, secret }, form)).status !== 401;
}

const native =
  'imported as a native application, because it has a redirect URI on loopback or with a private-use scheme';

describe('the import of clients from a different server', () => {
  // @shows AS-41.1, AS-41.3
  test('better-auth: clients from its real table work here with their secrets', async () => {
    const records = exported('docs/moving/better-auth.md');
    expect(await imported(records)).toEqual({
      written: true,
      clients: [
        ['hZWehEZyXtGRxNvFiMxaaofgRdCGPyQs', []],
        [
          'NexZVPiTBZmqfCJcwccJkwdKaSzogKHz',
          ['redirect_uris are not imported, because none of the grants uses them'],
        ],
      ],
    });
    expect(await proves('hZWehEZyXtGRxNvFiMxaaofgRdCGPyQs', BETTER_AUTH.shop)).toBe(true);
    expect(await proves('NexZVPiTBZmqfCJcwccJkwdKaSzogKHz', BETTER_AUTH.robot)).toBe(true);
    expect(await proves('NexZVPiTBZmqfCJcwccJkwdKaSzogKHz', BETTER_AUTH.shop)).toBe(false);
    expect((await portal.server.clients.find('hZWehEZyXtGRxNvFiMxaaofgRdCGPyQs'))?.scopes).toEqual([
      'openid',
      'notes:read',
    ]);
  });

  // @shows AS-41.1, AS-41.3
  test('Django OAuth Toolkit: clients from its real table work here with PBKDF2 or plain-text secrets', async () => {
    expect(await imported(exported('docs/moving/django-oauth-toolkit.md'))).toEqual({
      written: true,
      clients: [
        ['django-shop', []],
        ['django-robot', []],
        ['django-phone', [native]],
        ['django-plain', []],
      ],
    });
    expect(await proves('django-shop', 'a-secret-of-the-django-shop')).toBe(true);
    expect(await proves('django-plain', 'a-plain-secret-of-django')).toBe(true);
    expect(await proves('django-robot', 'a-secret-of-the-django-shop')).toBe(false);
    const { redirectUris, grants } = (await portal.server.clients.show('django-shop')).client;
    expect(redirectUris).toEqual(['https://shop.example/cb', 'https://shop.example/other']);
    expect(grants).toEqual(['authorization_code', 'refresh_token']);
  });

  // @shows AS-41.1, AS-41.3
  test('oidc-provider: clients in its stored format are imported line by line in the console', async () => {
    const lines = fixture('oidc-provider.jsonl').trim().split('\n');
    const [shop, phone] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const file = path.join(folder, 'clients.jsonl');
    await writeFile(
      file,
      JSON.stringify(shop) + '\n' + JSON.stringify({ ...phone, scope: 'notes:read' }),
    );
    const { code, stderr } = await portico(['oauth:client:import', file], {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PORTAL_CONFIG: JSON.stringify(CONFIG) },
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(await proves(String(shop?.['client_id']), String(shop?.['client_secret']))).toBe(true);
    expect(await portal.server.clients.find(String(phone?.['client_id']))).toMatchObject({
      public: true,
      applicationType: 'native',
    });
  });

  // @shows AS-41.1, AS-41.3
  test('Doorkeeper: accepts secrets hashed with SHA-256, and one redirect URI per line', async () => {
    expect(await imported(exported('docs/moving/doorkeeper.md'))).toEqual({
      written: true,
      clients: [
        ['rails-shop', []],
        ['rails-phone', [native]],
      ],
    });
    expect(await proves('rails-shop', 'a-secret-of-the-rails-shop')).toBe(true);
    expect((await portal.server.clients.find('rails-shop'))?.redirectUris).toHaveLength(2);
  });

  // @shows AS-41.3
  test('Laravel Passport: accepts bcrypt secrets if the hasher of the host uses that bcrypt cost', async () => {
    const records = exported('docs/moving/laravel-passport.md');
    expect(records).toHaveLength(2);
    const refused = await imported(records);
    expect([refused.written, refused.clients[0]?.[1]]).toEqual([
      false,
      expect.stringContaining('has an unknown form'),
    ]);

    // Replaces a bcrypt library, because the import checks only the form of a hash.
    const passwordHasher: PasswordHasher = {
      hash: async () => `$2b$12$${'x'.repeat(53)}`,
      verify: async (password, hash) => password === 'right' && hash.startsWith('$2b$12$abc'),
    };
    const withBcrypt = await startPortal({ passwordHasher, signingKey: false });
    try {
      const { written } = await withBcrypt.server.importing.clients(records);
      expect(written).toBe(true);
      const [shop] = records as readonly { readonly client_id: string }[];
      const answer = (secret: string) =>
        requestToken(withBcrypt, { id: shop?.client_id ?? '', secret }, { grant_type: 'x' });
      expect([(await answer('right')).status, (await answer('wrong')).status]).toEqual([400, 401]);
    } finally {
      await withBcrypt.close();
    }

    const without = exported('docs/moving/laravel-passport.md', (query) =>
      query.replace(/,\s*REPLACE\(secret[^\n]*client_secret_hash/, ''),
    );
    const { written, clients } = await portal.server.importing.clients(without, {
      newSecrets: true,
    });
    expect([written, clients.map(({ secret }) => secret === null)]).toEqual([true, [false, true]]);
    expect(await proves(clients[0]?.clientId ?? '', clients[0]?.secret ?? '')).toBe(true);
  });
});
