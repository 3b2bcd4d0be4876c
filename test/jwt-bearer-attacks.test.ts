// @engines sqlite: the rules are the same on every engine
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newKey, signed } from './support/assertions.ts';
import {
  accountOf,
  assertionFor,
  IDP,
  jagClaims,
  jagHeader,
  JWT_BEARER,
  link,
  present,
  registerAssistant,
  startOrganization,
  SUBJECT,
  type Organization,
} from './support/identity-provider.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  GRACE,
  introspect,
  obtainTokens,
  REDIRECT_URI,
  registerClient,
  requestToken,
  startPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

/** Attacks by a person who has read RFC 7521, RFC 7523, ID-JAG and the MCP extension. */

const OTHER_IDP = 'https://other-idp.example';

let organization: Organization;

beforeAll(async () => {
  organization = await startOrganization(({ file }) => {
    const settings = { jwks_file: file, algorithms: ['ES256'], asserts: ['people'] };
    return {
      audience: 'https://app.example/api',
      trusted_issuers: { [IDP]: settings, [OTHER_IDP]: settings },
    };
  });
  await link(organization.portal, ADA);
});
afterAll(() => organization.close());

type Changes = Readonly<Record<string, unknown>>;

const assertionWith = (changes: Changes = {}, client = organization.assistant) =>
  assertionFor(organization.portal, client, organization.idp.key, changes);
const ask = (changes: Changes = {}, form = {}, client = organization.assistant) =>
  present(organization.portal, client, assertionWith(changes, client), form);
const tokenOf = async (response: Response) => {
  expect(response.status).toBe(200);
  return ((await response.json()) as Tokens).access_token;
};
const nameOf = async (token: string) => {
  const { name } = (await (await callApi(organization.portal, '/api/whoami', token)).json()) as {
    readonly name?: string;
  };
  return name;
};

// @shows AS-49.4
test('an assertion gives the account of its issuer and subject, regardless of other claims', async () => {
  const { portal } = organization;
  const grace = await accountOf(portal, GRACE);
  const claims = {
    email: GRACE,
    email_verified: true,
    preferred_username: GRACE,
    upn: GRACE,
    name: 'Grace Hopper',
    aud_sub: grace.id,
    sub_id: { format: 'email', email: GRACE },
    person: grace,
    user_id: grace.id,
    provider: grace.provider,
  };
  expect(await nameOf(await tokenOf(await ask(claims)))).toContain('Ada');
});

// @shows AS-49.4
test('only one of two accounts gets a subject if both are linked to it at the same time', async () => {
  const { portal } = organization;
  const access = portal.server.organizationAccess;
  if (access === undefined) throw new Error('the grant is off');
  const people = [await accountOf(portal, ADA), await accountOf(portal, GRACE)];
  for (let round = 0; round < 10; round += 1) {
    const subject = `wanted ${round}`;
    const done = await Promise.allSettled(
      people.map((person) => access.link({ issuer: IDP, subject }, person)),
    );
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = done[0]?.status === 'fulfilled' ? 'Ada' : 'Grace';
    expect(await nameOf(await tokenOf(await ask({ sub: subject })))).toContain(winner);
  }
});

// @shows AS-49.4, AS-49.5
test('unlinking a subject of one issuer keeps the same subject of another issuer and its tokens', async () => {
  const { portal } = organization;
  const of = (iss: string) => ask({ iss, sub: 'shared' });
  await link(portal, GRACE, 'shared');
  await link(portal, GRACE, 'shared', OTHER_IDP);
  const [one, other] = [await tokenOf(await of(IDP)), await tokenOf(await of(OTHER_IDP))];
  await portal.server.organizationAccess?.unlink({ issuer: IDP, subject: 'shared' });
  expect((await callApi(portal, '/api/whoami', one)).status).toBe(401);
  expect(await nameOf(other)).toContain('Grace');
  expect(await errorOf(await of(IDP))).toBe('invalid_grant');
  await tokenOf(await of(OTHER_IDP));
});

// @shows AS-49.6
test('the page of applications lists every organization that gave access beside user consent', async () => {
  const { portal } = organization;
  const client = await registerClient(portal, {
    name: 'Given twice',
    scopes: ['notes:read'],
    grants: ['authorization_code', 'refresh_token', JWT_BEARER],
  });
  await link(portal, ADA, SUBJECT, OTHER_IDP);
  await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
  for (const iss of [OTHER_IDP, IDP]) await tokenOf(await ask({ iss }, {}, client));
  const page = await (await (await portal.signedIn(ADA)).get('/oauth/applications')).text();
  const [, entry = ''] = page.split('Given twice');
  expect(entry).toMatch(
    new RegExp(
      `Your organization gave this access \\(<bdi>(?:${IDP}, ${OTHER_IDP}|${OTHER_IDP}, ${IDP})</bdi>`,
    ),
  );
});

/**
 * An event between the issue of the assertion and its use. It returns a function that undoes it, or
 * null.
 */
type Event = (client: TestClient) => Promise<(() => Promise<unknown>) | null>;

const EVENTS: Readonly<Record<string, Event>> = {
  async 'the account is suspended'() {
    await organization.portal.suspend(ADA);
    return () => organization.portal.restore(ADA);
  },
  async 'the subject is unlinked'() {
    await organization.portal.server.organizationAccess?.unlink({ issuer: IDP, subject: SUBJECT });
    return () => link(organization.portal, ADA);
  },
  async 'the access of the client is ended'(client) {
    const { portal } = organization;
    await tokenOf(await ask({}, {}, client));
    const { items } = await portal.server.access.list({ clientId: client.id });
    await portal.server.access.revokeAuthorizations(items.map(({ id }) => id));
    return null;
  },
  async 'the client loses the grant'(client) {
    await organization.portal.server.clients.update(client.id, {
      addGrants: ['authorization_code'],
      addRedirectUris: [REDIRECT_URI],
      removeGrants: [JWT_BEARER],
    });
    return null;
  },
  async 'the client is revoked'(client) {
    await organization.portal.server.clients.revoke(client.id);
    return null;
  },
  async 'the key is withdrawn'() {
    const { idp } = organization;
    await idp.publish(newKey('ES256'));
    return () => idp.publish(idp.key);
  },
  async 'the person loses the permission'() {
    await organization.portal.deny(ADA, 'notes:read');
    return () => organization.portal.grant(ADA, 'notes:read');
  },
};

// @shows AS-49.3, AS-49.4, AS-49.6, AS-49.7
test.each(Object.entries(EVENTS))(
  'an earlier assertion gives no token after %s',
  async (_, happens) => {
    const client = await registerAssistant(organization.portal);
    const assertion = assertionWith({}, client);
    const undo = await happens(client);
    if (undo !== null) onTestFinished(async () => void (await undo()));
    const { status } = await present(organization.portal, client, assertion);
    expect([400, 401]).toContain(status);
    const person = await accountOf(organization.portal, ADA);
    const held = { person, clientId: client.id };
    expect((await organization.portal.server.access.list(held)).items).toEqual([]);
  },
);

// @shows AS-49.4
test('an earlier assertion gives no token after the issuer is removed', async () => {
  const { portal, assistant, idp } = organization;
  const assertion = assertionWith();
  const { key_path } = portal.server.config;
  const without = await startPortal({
    config: { oauth_server: { jwt_bearer_grant: true, trusted_issuers: {}, key_path } },
    databaseUrl: portal.env['DATABASE_URL'] ?? '',
  });
  onTestFinished(() => without.close());
  const elsewhere = assertionFor(without, assistant, idp.key);
  for (const each of [assertion, elsewhere])
    expect(await errorOf(await present(without, assistant, each))).toBe('invalid_grant');
  await tokenOf(await present(portal, assistant, assertion));
});

// @shows AS-49.3
test.each<[what: string, claims: Changes]>([
  ['a resource', { resource: 'https://elsewhere.example/api' }],
  ['a list with a resource', { resource: ['https://elsewhere.example/api'] }],
  ['a scope', { scope: 'notes:read admin' }],
  ['a scope that the client lacks', { scope: 'email' }],
  ['scopes without effect', { scope: 'openid offline_access' }],
])('an assertion with %s that cannot be granted is refused as invalid_grant', async (_, claims) => {
  expect(await errorOf(await ask(claims))).toBe('invalid_grant');
});

// @shows AS-49.3
test('a request can name the default resource if the assertion names none, and the token is for it', async () => {
  const resource = 'https://app.example/api';
  const tokens = await tokenOf(await ask({}, { resource }));
  expect(await introspect(organization.portal, tokens)).toMatchObject({ aud: resource });
});

// @shows AS-49.3
test('a wrong resource or scope in the request is reported as an error of the request', async () => {
  const resource = 'https://elsewhere.example/api';
  expect(await errorOf(await ask({}, { resource }))).toBe('invalid_target');
  expect(await errorOf(await ask({ scope: undefined }, { scope: 'admin' }))).toBe('invalid_scope');
  expect(await errorOf(await ask({}, { scope: 'notes:write' }))).toBe('invalid_scope');
});

// @shows AS-49.2
test.each<[what: string, members: Changes]>([
  ['for encryption', { use: 'enc' }],
  ['for a different operation', { key_ops: ['sign'] }],
  ['for a different algorithm', { alg: 'ES384' }],
])('a key of the issuer that is %s verifies nothing', async (_, members) => {
  const { idp } = organization;
  onTestFinished(() => idp.publish(idp.key));
  await writeFile(idp.file, JSON.stringify({ keys: [{ ...idp.key.jwk, ...members }] }));
  expect((await ask()).status).toBeGreaterThanOrEqual(400);
});

// @shows AS-49.2
test('a symmetric key in the key set of the issuer verifies nothing', async () => {
  const { idp } = organization;
  onTestFinished(() => idp.publish(idp.key));
  const secret = { kty: 'oct', k: 'c2VjcmV0', kid: idp.key.kid, alg: 'HS256' };
  await writeFile(idp.file, JSON.stringify({ keys: [secret, newKey('ES256').jwk] }));
  expect(await errorOf(await ask())).toBe('invalid_grant');
});

// @shows AS-49.3
test('a token given by an organization is no assertion, code or refresh token, and refused at UserInfo', async () => {
  const { portal, assistant } = organization;
  const token = await tokenOf(await ask());
  const forms = [
    { grant_type: JWT_BEARER, assertion: token },
    { grant_type: 'authorization_code', code: token, redirect_uri: '', code_verifier: 'x' },
    { grant_type: 'refresh_token', refresh_token: token },
  ];
  for (const form of forms)
    expect((await requestToken(portal, assistant, form)).status).toBeGreaterThanOrEqual(400);
  expect((await callApi(portal, '/oauth/userinfo', token)).status).toBe(403);
});

// @shows AS-49.3
test('access given by an organization is no consent: consent is still shown, prompt=none refused', async () => {
  const { portal } = organization;
  const client = await registerClient(portal, {
    scopes: ['openid', 'notes:read'],
    grants: ['authorization_code', JWT_BEARER],
  });
  await tokenOf(await ask({}, {}, client));
  const ada = await portal.signedIn(ADA);
  const scope = 'notes:read';
  const silent = await ada.get(authorizationUrl(portal, client, { scope, prompt: 'none' }));
  expect(locationOf(silent).searchParams.get('error')).toBe('interaction_required');
  const asked = await ada.visit(authorizationUrl(portal, client, { scope }));
  expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('Allow')]);
});

// @shows AS-49.5
test('introspection reports a token as not active as soon as its link is removed', async () => {
  const { portal } = organization;
  await link(portal, GRACE, 'introspected');
  const token = await tokenOf(await ask({ sub: 'introspected' }));
  expect(await introspect(portal, token)).toMatchObject({ active: true, scope: 'notes:read' });
  await portal.server.organizationAccess?.unlink({ issuer: IDP, subject: 'introspected' });
  expect(await introspect(portal, token)).toEqual({ active: false });
});

test('the log contains neither assertions nor subjects, accepted or refused', async () => {
  const { portal, assistant, idp } = organization;
  const header = jagHeader(idp.key);
  const claims = { ...jagClaims(portal, assistant), sub: 'a-very-private-subject' };
  const texts = [
    signed(idp.key, header, claims),
    signed(idp.key, { ...header, typ: 'a-very-private-type' }, claims),
    signed(newKey('ES256'), header, claims),
    signed(idp.key, header, { ...claims, iss: 'https://a-very-private-issuer.example' }),
    signed(idp.key, header, { ...claims, tenant: 'a-very-private-tenant' }),
    assertionWith(),
  ];
  for (const text of texts) await present(portal, assistant, text);
  const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
  expect(log).toContain('assertion refused');
  expect(log).not.toContain('a-very-private');
  for (const text of texts) for (const part of text.split('.')) expect(log).not.toContain(part);
});
