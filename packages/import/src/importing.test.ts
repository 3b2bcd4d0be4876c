// @engines sqlite: how the feature works in a server; test/importing.test.ts runs on every engine
import { createHash, pbkdf2Sync } from 'node:crypto';
import type { AuthorizationServer, OAuthServerConfigInput } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  NOW,
  openImporting,
  PLAIN,
  type ImportingServers,
} from '../../../test/support/importing-server.ts';

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

let servers: ImportingServers;

beforeAll(async () => {
  servers = await openImporting();
});
afterAll(() => servers.close());
beforeEach(() => void servers.events.splice(0));

const serverWith = (section: OAuthServerConfigInput = {}) => servers.serverWith({ section });

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
  test('authenticates with its existing secret, of which only the hash was imported', async () => {
    const server = serverWith({ imported_pbkdf2_iterations: 20 });
    for (const about of [record(SHA256), record(pbkdf2(20))]) {
      expect(await server.importing.clients([about])).toMatchObject({ written: true });
      expect(await statusOf(server, about.client_id, SECRET)).toBe(200);
      expect(await statusOf(server, about.client_id, `${SECRET}5`)).toBe(401);
    }
    expect(servers.events.filter(({ type }) => type === 'client_registered')).toHaveLength(2);
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

  test('is validated like a registration', async () => {
    const about = { ...record(SHA256), dpop_bound_access_tokens: true };
    expect(await serverWith().importing.clients([about])).toMatchObject({ written: false });
    expect(await serverWith({ dpop: 'accept' }).importing.clients([about])).toMatchObject({
      written: true,
    });
  });

  test('without a registration date gets the current time of the server', async () => {
    const about = record(SHA256);
    const { importing: imports, clients } = serverWith();
    await imports.clients([about]);
    expect(await clients.find(about.client_id)).toMatchObject({ createdAt: NOW });
  });

  test('cannot have the URL of a document as its id', async () => {
    const about = {
      client_id: 'https://client.example/imported.json',
      client_secret: 'x'.repeat(32),
    };
    const { clients } = await serverWith().importing.clients([{ ...about, ...SERVICE }]);
    expect(clients).toMatchObject([{ outcome: 'refused' }]);
  });
});

describe('an import of clients', () => {
  const plain = (more: Readonly<Record<string, unknown>> = {}) => ({
    client_id: `imported-${crypto.randomUUID()}`,
    client_secret: SECRET,
    ...SERVICE,
    ...more,
  });

  // @shows AS-41.6
  test('records one event for each client, and names the operator only if one is known', async () => {
    const [one, other] = [plain(), plain()];
    const { importing: imports } = serverWith();
    await imports.clients([one]);
    await imports.clients([other], { by: 'console' });
    const event = { type: 'client_registered', registeredBy: 'operator' } as const;
    expect(servers.events).toStrictEqual([
      { ...event, clientId: one.client_id },
      { ...event, clientId: other.client_id, by: 'console' },
    ]);
  });

  // @shows AS-41.1, AS-41.8
  test('reports progress for checked records, then for written ones, and a dry run writes none', async () => {
    const records = [plain(), plain()];
    const { importing: imports, clients } = serverWith();
    const counts: number[] = [];
    const report = (count: number) => void counts.push(count);
    const told = records.map((each, at) => ({
      record: at + 1,
      clientId: each.client_id,
      outcome: 'imported',
      problem: null,
      changes: [],
      secret: null,
    }));
    expect(await imports.clients(records, { dryRun: true, report })).toStrictEqual({
      written: false,
      clients: told,
    });
    expect([counts, servers.events]).toEqual([[1, 2], []]);
    expect(await clients.find(records[0]?.client_id ?? '')).toBeNull();
    expect(await imports.clients(records, { report })).toStrictEqual({
      written: true,
      clients: told,
    });
    expect(counts).toEqual([1, 2, 1, 2, 1, 2]);
  });

  // @shows AS-41.1, AS-41.6
  test('writes nothing if one record is refused, and still checks the others', async () => {
    const records = [plain(), plain({ client_secret: 'short' }), plain()];
    const { importing: imports, clients } = serverWith();
    const { written, clients: told } = await imports.clients(records, { newSecrets: true });
    expect([written, ...told.map(({ outcome }) => outcome)]).toEqual([
      false,
      'imported',
      'refused',
      'imported',
    ]);
    for (const { client_id: id } of records) expect(await clients.find(id)).toBeNull();
    expect(servers.events).toEqual([]);
  });

  // @shows AS-41.5
  test('refuses a record that differs from the existing client, and names the differences', async () => {
    const { importing: imports } = serverWith();
    const web = {
      ...plain({ grant_types: ['authorization_code', 'client_credentials'] }),
      redirect_uris: ['https://a.example/cb', 'https://b.example/cb'],
      scope: 'notes:read notes:write',
    };
    await imports.clients([web]);
    const problemOf = async (changes: Readonly<Record<string, unknown>>, about: object = web) =>
      (await imports.clients([{ ...about, ...changes }], { newSecrets: true })).clients[0]?.problem;
    const differs = (what: string) =>
      `a client with this id already exists, with a different ${what}; to change it, use ` +
      'oauth:client:update';
    // These lists have no order.
    const reordered = {
      scope: 'notes:write notes:read',
      redirect_uris: web.redirect_uris.toReversed(),
      grant_types: web.grant_types.toReversed(),
    };
    expect(await problemOf(reordered)).toBeNull();
    for (const [what, changes] of [
      ['client_name', { client_name: 'Other' }],
      ['redirect_uris', { redirect_uris: ['https://a.example/cb'] }],
      ['scope', { scope: 'notes:read' }],
      ['grant_types', { grant_types: ['authorization_code'] }],
      ['application_type', { application_type: 'native' }],
      ['client_name, scope', { client_name: 'Other', scope: 'notes:write' }],
    ] as const)
      expect(await problemOf(changes)).toBe(differs(what));
    await servers.database.execute(
      "UPDATE oauth_clients SET id_token_alg = 'ES256' WHERE client_id = ?",
      [web.client_id],
    );
    expect(await problemOf({})).toBe(differs('id_token_signed_response_alg'));
    const people = { ...web, client_id: `${web.client_id}-2`, grant_types: ['authorization_code'] };
    await imports.clients([people]);
    expect(await problemOf({ token_endpoint_auth_method: 'none' }, people)).toBe(
      differs('token_endpoint_auth_method'),
    );
  });

  // @shows AS-41.5
  test('leaves an existing client with the same keys unchanged, and refuses different keys', async () => {
    const { importing: imports } = serverWith({ private_key_jwt: true });
    const x = 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU';
    const y = 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0';
    const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x, y }] };
    for (const keys of [
      { jwks },
      { jwks, token_endpoint_auth_signing_alg: 'ES256' },
      { jwks_uri: 'https://client.example/keys' },
    ]) {
      const method = { token_endpoint_auth_method: 'private_key_jwt', client_secret: undefined };
      const about = plain({ ...method, ...keys });
      const outcome = async (more: object = {}) => {
        const [told] = (await imports.clients([{ ...about, ...more }], { newSecrets: true }))
          .clients;
        return told?.problem ?? told?.outcome;
      };
      const differs = (what: string) =>
        `a client with this id already exists, with a different ${what}; to change it, use ` +
        'oauth:client:update';
      expect(await outcome()).toBe('imported');
      expect(await outcome()).toBe('unchanged');
      for (const others of [
        { jwks: undefined, jwks_uri: 'https://client.example/others' },
        {
          token_endpoint_auth_signing_alg:
            'token_endpoint_auth_signing_alg' in keys ? undefined : 'ES256',
        },
      ])
        expect(await outcome(others)).toBe(differs('jwks'));
      expect(await outcome({ token_endpoint_auth_method: 'client_secret_basic' })).toBe(
        differs('token_endpoint_auth_method, jwks'),
      );
    }
  });

  // @shows AS-41.5
  test('leaves an existing client with the same secret unchanged, and refuses a different secret', async () => {
    const { importing: imports } = serverWith({ imported_pbkdf2_iterations: 20 });
    const otherSecret = 'another-secret-of-the-other-server';
    const otherHash = `sha256:${createHash('sha256').update(otherSecret).digest('hex')}`;
    const secrets = [
      [{ client_secret: SECRET }, { client_secret: otherSecret }],
      [{ client_secret_hash: SHA256 }, { client_secret_hash: otherHash }],
      [{ client_secret_hash: pbkdf2(20) }, { client_secret_hash: pbkdf2(19) }],
    ];
    for (const [own, other] of secrets) {
      const about = plain({ client_secret: undefined });
      const outcome = async (secret: object = {}) => {
        const { clients, written } = await imports.clients([{ ...about, ...secret }]);
        return [written, clients[0]?.problem ?? clients[0]?.outcome];
      };
      expect(await outcome(own)).toEqual([true, 'imported']);
      expect(await outcome(own)).toEqual([false, 'unchanged']);
      expect(await outcome(other)).toEqual([
        false,
        expect.stringContaining('with a different secret') as string,
      ]);
    }
  });

  test('writes nothing and fails with the error of the host if a secret cannot be hashed', async () => {
    const about = plain();
    const broken = async () => {
      throw new Error('no memory for a hash');
    };
    const failing = servers.serverWith({
      passwordHasher: {
        hash: (secret) => (secret === SECRET ? broken() : PLAIN.hash(secret)),
        verify: broken,
      },
    });
    await expect(failing.importing.clients([about])).rejects.toThrow('no memory for a hash');
    expect(await failing.clients.find(about.client_id)).toBeNull();
    await serverWith().importing.clients([about]);
    await expect(failing.importing.clients([about])).rejects.toThrow('no memory for a hash');
  });

  // @shows AS-41.1
  test('accepts at most 1000 records', async () => {
    const { importing: imports } = serverWith();
    const records = Array.from({ length: 1000 }, () => null);
    expect((await imports.clients(records)).clients).toHaveLength(1000);
    await expect(imports.clients([...records, null])).rejects.toThrow(
      'The file has 1001 clients; at most 1000 can be imported at once. Split the file',
    );
  });
});
