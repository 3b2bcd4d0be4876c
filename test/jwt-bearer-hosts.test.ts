// @engines sqlite: the database makes no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  migrationsWith,
  openDatabase,
  token,
  type AuthorizationServer,
  type Host,
  type OpenedDatabase,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signed } from './support/assertions.ts';
import { newDpopKey, tokenProof } from './support/dpop.ts';
import { createHostLog } from './support/host-log.ts';
import {
  IDP,
  jagHeader,
  JWT_BEARER,
  startIdentityProvider,
  SUBJECT,
  type IdentityProvider,
} from './support/identity-provider.ts';
import type { Tokens } from './support/portal.ts';

/** Tests access that an organization gives, with different values from the host. */

const ISSUER = 'https://host.example';
const ADA = { provider: 'staff', id: 'ada' };
/** The tables with rows that exist only until the person is erased. */
const ABOUT_PEOPLE = ['oauth_families', 'oauth_given_access', 'oauth_subjects'];
const { log, lines: logged } = createHostLog();

let folder: string;
let idp: IdentityProvider;
let database: OpenedDatabase;
let client: { readonly id: string; readonly secret: string };

/** A host whose look-up ignores case, as the collation of a database can. */
const lenient: Host = {
  signedIn: async () => null,
  loadAccount: async ({ id }) =>
    id.toLowerCase() === ADA.id
      ? { reference: ADA, isActive: () => true, getProfile: () => ({ name: 'Ada' }) }
      : null,
  holdsPermission: async () => true,
  loginUrl: '/sign-in',
  passwordHasher: {
    hash: async (text) => `#${text}`,
    verify: async (text, hash) => hash === `#${text}`,
  },
  audit: async () => {},
  log,
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-organization-'));
  idp = await startIdentityProvider();
  database = openDatabase(`sqlite:${folder}/app.db`, { directory: folder });
  await migrate(database, migrationsWith(config()));
  const server = serverWith({});
  await server.keys.generate();
  const registered = { name: 'Assistant', redirectUris: [], scopes: ['notes:read'] };
  const created = await server.clients.create({ ...registered, grants: [JWT_BEARER] });
  client = { id: created.client.id, secret: created.secret ?? '' };
});
beforeEach(async () => {
  logged.length = 0;
  for (const table of [...ABOUT_PEOPLE, 'oauth_given_access_ended', 'oauth_linked_subjects'])
    await database.execute(`DELETE FROM ${table}`);
});
afterAll(async () => {
  await database.close();
  await idp.close();
  await rm(folder, { recursive: true });
});

function config(scopes: Readonly<Record<string, string>> = {}, more: object = {}) {
  return configurationWith([]).parse({
    name: 'Notes',
    scopes: { 'notes:read': 'Read your notes', ...scopes },
    key_path: path.join(folder, 'keys'),
    ...idp.config.oauth_server,
    ...more,
  });
}

function serverWith(
  more: Partial<Host>,
  on: OpenedDatabase = database,
  scopes?: Readonly<Record<string, string>>,
  settings?: object,
): AuthorizationServer {
  const host = { ...lenient, ...more };
  const options = { publicUrl: ISSUER, config: config(scopes, settings), host, database: on };
  return createAuthorizationServer(options);
}

/** The database. It calls each function once, after statements that contain `text`. */
function after(text: string, ...acts: readonly (() => Promise<unknown>)[]): OpenedDatabase {
  const left = [...acts];
  return {
    ...database,
    async execute(sql, ...rest) {
      const result = await database.execute(sql, ...rest);
      if (sql.includes(text)) await left.shift()?.();
      return result as never;
    },
  };
}

/** The number of rows with which this table names the person. */
async function rowsAbout({ provider, id }: typeof ADA, table: string): Promise<number> {
  const sql = `SELECT 1 FROM ${table} WHERE user_provider = ? AND user_id = ?`;
  return (await database.execute(sql, [provider, id])).rows.length;
}

async function isErased(): Promise<void> {
  for (const table of ABOUT_PEOPLE) expect(await rowsAbout(ADA, table)).toBe(0);
}

/** Part of the statement that reads the subject of a person. */
const READ = 'subject FROM oauth_subjects';

let assertions = 0;

/** Sends an assertion about the subject to the token endpoint. */
async function present(
  server: AuthorizationServer,
  subject: string,
  changes: object = {},
  by = client,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const endpoint = server.endpoints.find(({ name }) => name === 'oauth_server_token');
  if (endpoint === undefined) throw new Error('There is no token endpoint');
  const seconds = Math.floor(Date.now() / 1000);
  const claims = {
    iss: IDP,
    sub: subject,
    aud: server.issuer,
    client_id: by.id,
    scope: 'notes:read',
    jti: String((assertions += 1)),
    iat: seconds,
    exp: seconds + 240,
    ...changes,
  };
  const body = new URLSearchParams({
    grant_type: JWT_BEARER,
    client_id: by.id,
    client_secret: by.secret,
    assertion: signed(idp.key, jagHeader(idp.key), claims),
  });
  return endpoint.handle(new Request(`${ISSUER}/oauth/token`, { method: 'POST', headers, body }));
}

/** The status with which an API answers this token. */
async function statusOf(server: AuthorizationServer, value: string): Promise<number> {
  const headers = { Authorization: `Bearer ${value}` };
  const request = new Request(`${ISSUER}/api`, { headers });
  const answer = await server.withToken(request, async () => {
    token().requireScope('notes:read');
    return new Response('allowed');
  });
  return answer.status;
}

// @shows AS-49.4
test('a link requires the exact id of the account, and the error contains that id', async () => {
  const { organizationAccess } = serverWith({});
  await expect(
    organizationAccess?.link({ issuer: IDP, subject: SUBJECT }, { ...ADA, id: 'ADA' }),
  ).rejects.toThrow('another account for this provider and id: "staff" "ada"');
  expect((await organizationAccess?.list(10))?.items).toEqual([]);
});

// @shows AS-49.4
test('a host whose accountFor and loadAccount use different ids gives no token', async () => {
  const server = serverWith({ accountFor: async () => ({ ...ADA, id: 'ADA' }) });
  expect((await present(server, SUBJECT)).status).toBe(500);
  expect(logged.join('\n')).toContain(
    'Host.loadAccount returned an account with another provider or id',
  );
  expect((await server.access.list({ clientId: client.id })).items).toEqual([]);
});

// @shows AS-49.4, AS-49.5
test('a host that returns undefined has no account, for assertions and for tokens', async () => {
  let known = true;
  const accountFor = (async () => (known ? ADA : undefined)) as unknown as Host['accountFor'];
  const server = serverWith(accountFor === undefined ? {} : { accountFor });
  const given = (await (await present(server, SUBJECT)).json()) as Tokens;
  expect(await statusOf(server, given.access_token)).toBe(200);
  known = false;
  expect(await statusOf(server, given.access_token)).toBe(401);
  const refused = await present(server, SUBJECT);
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
});

// @shows AS-49.4
test('a host is told which grant gave the token, and to whom', async () => {
  const events: unknown[] = [];
  const audit: Host['audit'] = async (event) => void events.push(event);
  expect((await present(serverWith({ accountFor: async () => ADA, audit }), SUBJECT)).status).toBe(
    200,
  );
  expect(events).toMatchObject([
    { type: 'tokens_issued', grantType: JWT_BEARER, person: ADA, scopes: ['notes:read'] },
  ]);
});

// @shows AS-49.4
test('a host receives only the issuer, its tenant and the subject', async () => {
  const told: unknown[] = [];
  const server = serverWith({
    accountFor: async (assertion) => {
      told.push(assertion);
      return ADA;
    },
  });
  expect((await present(server, SUBJECT)).status).toBe(200);
  expect(told).toEqual([{ issuer: IDP, tenant: null, subject: SUBJECT }]);
});

// @shows AS-49.4
test('an assertion can be used after the reason of its refusal has ended', async () => {
  const server = serverWith({ accountFor: async () => ADA });
  const same = { jti: `same ${(assertions += 1)}` };
  await server.organizationAccess?.end(ADA, client.id);
  expect((await present(server, SUBJECT, same)).status).toBe(400);
  await server.organizationAccess?.allow({ person: ADA, clientId: client.id });
  expect((await present(server, SUBJECT, same)).status).toBe(200);
  expect((await present(server, SUBJECT, same)).status).toBe(400);
});

// @shows AS-49.8
test('a proof that was used before gives no token', async () => {
  const host = { accountFor: async () => ADA };
  const server = serverWith(host, database, {}, { dpop: 'accept' });
  const headers = { DPoP: tokenProof(newDpopKey(), server.issuer, Date.now()) };
  const statusOfProof = async () => {
    const { status } = await present(server, SUBJECT, {}, client, headers);
    return status;
  };
  expect([await statusOfProof(), await statusOfProof()]).toEqual([200, 400]);
});

// @shows AS-49.3
test('an assertion must name a resource of the server, if there is no default one', async () => {
  const resource = `${ISSUER}/api`;
  const host = { accountFor: async () => ADA };
  const resources = { [resource]: { scopes: ['notes:read'] } };
  const server = serverWith(host, database, {}, { resources });
  for (const [claims, status, error] of [
    [{ resource }, 200, undefined],
    [{ resource: `${ISSUER}/other` }, 400, 'invalid_grant'],
    [{}, 400, 'invalid_grant'],
  ] as const) {
    const answer = await present(server, SUBJECT, claims);
    const { error: told } = (await answer.json()) as { readonly error?: string };
    expect([answer.status, told]).toEqual([status, error]);
  }
});

// @shows AS-49.4
test('a host must return a person that exists and that can be stored', async () => {
  const unknown = serverWith({ accountFor: async () => ({ ...ADA, id: 'grace' }) });
  expect((await present(unknown, SUBJECT)).status).toBe(400);
  const nameless = serverWith({ accountFor: async () => ({ ...ADA, id: '' }) });
  expect((await present(nameless, SUBJECT)).status).toBe(500);
  expect(logged.join('\n')).toContain(
    'Host.accountFor returned a person that cannot be stored: The id of a person must not be empty',
  );
});

describe('the scopes of an assertion', () => {
  const details: unknown[] = [];
  const noting: Host['log'] = {
    ...log,
    info: (_, { detail } = {}) => void details.push(detail),
  };
  const NOT_ALLOWED = 'The scope is not one that the client may have.';
  const UNKNOWN =
    'assertion refused: its scope is not accepted: these scopes are unknown, or not registered ' +
    'for this client and resource: "notes:old"';
  const NONE = 'none of the scopes has an effect with this grant';

  // @shows AS-49.4
  test.each<[string[], object, number, object, unknown[]]>([
    [['notes:read', 'notes:old'], { scope: undefined }, 200, { scope: 'notes:read' }, []],
    [
      ['notes:read', 'notes:old'],
      { scope: 'notes:old' },
      400,
      { error: 'invalid_grant' },
      [UNKNOWN],
    ],
    [
      ['notes:old'],
      { scope: undefined },
      400,
      { error: 'invalid_scope', error_description: NOT_ALLOWED },
      [NONE],
    ],
  ])(
    'are those of the client that the server has: %j, %j',
    async (scopes, claims, status, body, told) => {
      details.length = 0;
      const earlier = serverWith({}, database, { 'notes:old': 'Read your old notes' });
      const registered = { name: 'Assistant', redirectUris: [], scopes, grants: [JWT_BEARER] };
      const created = await earlier.clients.create(registered);
      const by = { id: created.client.id, secret: created.secret ?? '' };
      const server = serverWith({ accountFor: async () => ADA, log: noting });
      const answer = await present(server, SUBJECT, claims, by);
      expect([answer.status, await answer.json(), details]).toMatchObject([status, body, told]);
    },
  );
});

// @shows AS-49.6, AS-31.8
test('a person who is erased while access is given gets no authorization', async () => {
  const accountFor = async () => ADA;
  const server = serverWith({ accountFor });
  expect((await present(server, SUBJECT)).status).toBe(200);
  const erase = () => server.access.erasePerson(ADA);
  const refused = await present(serverWith({ accountFor }, after(READ, erase)), SUBJECT);
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  await isErased();
  expect((await present(server, SUBJECT)).status).toBe(200);
});

describe('a person without a subject who is erased while access is given', () => {
  const accountFor = async () => ADA;

  // @shows AS-31.8, AS-49.6
  test('has no subject afterwards if access is given more slowly', async () => {
    const { access } = serverWith({ accountFor });
    const giving = serverWith(
      { accountFor },
      after(READ, () => access.erasePerson(ADA)),
    );
    expect((await present(giving, SUBJECT)).status).toBe(400);
    await isErased();
  });

  // @shows AS-31.8, AS-49.6
  test('gets no access if it is given a second time just after the erasure', async () => {
    const server = serverWith({ accountFor });
    const erase = () => server.access.erasePerson(ADA);
    const again = async () => expect((await present(server, SUBJECT)).status).toBe(200);
    const giving = serverWith({ accountFor }, after(READ, erase, again));
    expect((await present(giving, SUBJECT)).status).toBe(400);
    expect(await rowsAbout(ADA, 'oauth_families')).toBe(1);
  });

  // @shows AS-31.8, AS-49.6
  test('has no subject afterwards if the new one is stored during the erasure', async () => {
    const [stored, erased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hold = async () => {
      stored.resolve();
      await erased.promise;
    };
    const giving = serverWith({ accountFor }, after('INSERT INTO oauth_subjects', hold));
    let answer: Promise<Response> | undefined;
    const give = async () => {
      answer = present(giving, SUBJECT);
      await Promise.race([stored.promise, answer]);
    };
    const { access } = serverWith({ accountFor }, after('DELETE FROM oauth_subjects', give));
    await access.erasePerson(ADA);
    erased.resolve();
    expect((await answer)?.status).toBe(400);
    await isErased();
  });
});

// @shows AS-49.6
test.each([
  ['of a client', () => client.id],
  ['of all clients', () => null],
])('access %s that was ended stays ended after the person is erased', async (_, clientOf) => {
  const server = serverWith({ accountFor: async () => ADA });
  const access = server.organizationAccess;
  const clientId = clientOf();
  const given = (await (await present(server, SUBJECT)).json()) as Tokens;
  await access?.end(ADA, clientId);
  await server.access.erasePerson(ADA);
  for (const table of ['oauth_given_access', 'oauth_given_access_ended'])
    expect(await rowsAbout(ADA, table)).toBe(0);
  expect((await present(server, SUBJECT)).status).toBe(400);
  await access?.allow({ person: ADA, clientId });
  expect((await present(server, SUBJECT)).status).toBe(200);
  expect(await statusOf(server, given.access_token)).toBe(401);
  // The access is allowed again, so ending everything ends it again.
  await access?.end(ADA, null);
  expect((await present(server, SUBJECT)).status).toBe(400);
  await access?.allow({ person: ADA, clientId: null });
  expect((await present(server, SUBJECT)).status).toBe(200);
});
