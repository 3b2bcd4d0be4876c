// @engines sqlite: how the feature works in a server; test/importing.test.ts has the engines
import { createHash, pbkdf2Sync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  oauthServerMigrations,
  openDatabase,
  type AuditEvent,
  type AuthorizationServer,
  type OAuthServerConfigInput,
  type OpenedDatabase,
  type UserInterface,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importing } from './index.ts';

const NOW = 1_800_000_000_000;
const SERVICE = { client_name: 'Robot', grant_types: ['client_credentials'], scope: 'notes:read' };
const SECRET = 'a-secret-of-the-other-server-1234';
const SHA256 = `sha256:${createHash('sha256').update(SECRET).digest('hex')}`;
const pbkdf2 = (iterations: number) =>
  `pbkdf2_sha256$${iterations}$salt$${pbkdf2Sync(SECRET, 'salt', iterations, 32, 'sha256').toString('base64')}`;
const record = (hash: string) => ({
  client_id: `imported-${crypto.randomUUID()}`,
  client_secret_hash: hash,
  ...SERVICE,
});

const hasher = {
  hash: async (secret: string) => `hash of ${secret}`,
  verify: async (secret: string, hash: string) => hash === `hash of ${secret}`,
};

let folder: string;
let database: OpenedDatabase;
const events: AuditEvent[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-import-'));
  database = openDatabase('sqlite:data.sqlite', { directory: folder });
  await migrate(database, oauthServerMigrations);
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => void events.splice(0));

function serverWith(section: OAuthServerConfigInput = {}): AuthorizationServer {
  const features = [importing];
  const config = configurationWith(features).parse({
    name: 'App',
    scopes: { 'notes:read': 'Read notes' },
    key_path: path.join(folder, 'keys'),
    ...section,
  });
  return createAuthorizationServer({
    publicUrl: 'https://app.example',
    config,
    database,
    features,
    clock: () => NOW,
    host: {
      signedIn: async () => null,
      loadAccount: async (person) => (person.id === 'ada' ? ({} as UserInterface) : null),
      holdsPermission: async () => true,
      loginUrl: '/login',
      passwordHasher: hasher,
      audit: async (event) => void events.push(event),
      log: { debug() {}, info() {}, warning() {}, error() {} },
    },
  });
}

/** Returns the status that the token endpoint sends to a client with this secret. */
async function statusOf(
  { endpoints }: AuthorizationServer,
  id: string,
  secret: string,
): Promise<number> {
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
  const token = endpoints.find((each) => each.path === '/oauth/token');
  const request = new Request('https://app.example/oauth/token', {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  return (await token?.handle(request))?.status ?? 0;
}

describe('an imported client', () => {
  test('is accepted with its existing secret, known only by its hash', async () => {
    const server = serverWith({ imported_pbkdf2_iterations: 20 });
    for (const about of [record(SHA256), record(pbkdf2(20))]) {
      expect(await server.importing.clients([about])).toMatchObject({ written: true });
      expect(await statusOf(server, about.client_id, SECRET)).toBe(200);
      expect(await statusOf(server, about.client_id, `${SECRET}5`)).toBe(401);
    }
    expect(events.filter(({ type }) => type === 'client_registered')).toHaveLength(2);
  });

  test.each([
    [undefined, 1],
    [20, 21],
  ])(
    'is refused if at most %s iterations are allowed, and its hash has %d',
    async (most, iterations) => {
      const { importing: imports, clients } = serverWith({ imported_pbkdf2_iterations: most });
      const about = record(pbkdf2(iterations));
      const { written, clients: told } = await imports.clients([about]);
      expect([written, told[0]?.problem]).toEqual([
        false,
        expect.stringContaining('oauth_server:imported_pbkdf2_iterations') as string,
      ]);
      expect(await clients.find(about.client_id)).toBeNull();
    },
  );

  test('has its record checked like a registration', async () => {
    const about = { ...record(SHA256), dpop_bound_access_tokens: true };
    expect(await serverWith().importing.clients([about])).toMatchObject({ written: false });
    expect(await serverWith({ dpop: 'accept' }).importing.clients([about])).toMatchObject({
      written: true,
    });
  });

  test("is dated by the server's clock, and subjects belong to known people", async () => {
    const about = record(SHA256);
    const { importing: imports, clients } = serverWith();
    await imports.clients([about]);
    expect(await clients.find(about.client_id)).toMatchObject({ createdAt: NOW });
    const { subjects } = await imports.subjects([
      { provider: 'accounts', id: 'ada', sub: 'a-subject' },
      { provider: 'accounts', id: 'unknown', sub: 'another-subject' },
    ]);
    expect(subjects.map(({ outcome }) => outcome)).toEqual(['imported', 'refused']);
  });

  test('has no id that is the URL of a document', async () => {
    const about = {
      client_id: 'https://client.example/imported.json',
      client_secret: 'x'.repeat(32),
    };
    const { clients } = await serverWith().importing.clients([{ ...about, ...SERVICE }]);
    expect(clients).toMatchObject([{ outcome: 'refused' }]);
  });
});
