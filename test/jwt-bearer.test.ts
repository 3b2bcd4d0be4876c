// @engines all: links and revocations are in the store
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ClientChanges } from 'portico';
import { accountsOf } from '../examples/portal/people.ts';
import { newKey } from './support/assertions.ts';
import { newDpopKey, jktOf, requestWithProof, tokenProof } from './support/dpop.ts';
import { startDocumentHost } from './support/document-host.ts';
import {
  accountOf,
  assertionFor,
  IDP,
  JWT_BEARER,
  link,
  present,
  registerAssistant,
  startOrganization,
  SUBJECT,
  type IdentityProvider,
  type Organization,
} from './support/identity-provider.ts';
import {
  ADA,
  callApi,
  errorOf,
  GRACE,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/** Access that the identity provider of an organization gives (RFC 7523, ID-JAG). */

let organization: Organization;
let idp: IdentityProvider;
let portal: RunningPortal;
let assistant: TestClient;

beforeAll(async () => {
  organization = await startOrganization();
  ({ idp, portal, assistant } = organization);
  await link(portal, ADA);
});
afterAll(() => organization.close());

const ask = (changes: Readonly<Record<string, unknown>> = {}, form = {}, client = assistant) =>
  present(portal, client, assertionFor(portal, client, idp.key, changes), form);

async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

/** Whether an API accepts the token. */
const isAccepted = async (token: string, at = portal) =>
  (await callApi(at, '/api/whoami', token)).status === 200;

const givenAccess = () => {
  const { organizationAccess } = portal.server;
  if (organizationAccess === undefined) throw new Error('the grant is off');
  return organizationAccess;
};

/** A client that the person can allow as well. */
const registerBoth = () =>
  registerClient(portal, {
    scopes: ['openid', 'notes:read', 'notes:write'],
    grants: ['authorization_code', 'refresh_token', JWT_BEARER],
  });

/** A new account with this subject. */
async function newPerson(subject: string) {
  const email = `${subject}@example.com`;
  const accounts = accountsOf(portal.application);
  const { id } = await accounts.create({ email, name: subject, password: '' });
  await accounts.grant(id, 'notes:read');
  await link(portal, email, subject);
  return accountOf(portal, email);
}

/** Ada removes the client from her page. */
async function removeOnPage(client: TestClient): Promise<void> {
  const ada = await portal.signedIn(ADA);
  const page = await (await ada.get('/oauth/applications')).text();
  const button = `value="${client.id}">\\s*<input type="hidden" name="csrf_token" value="([^"]+)"`;
  const [, csrf = ''] = new RegExp(button).exec(page) ?? [];
  const form = { client_id: client.id, csrf_token: csrf };
  expect((await ada.post('/oauth/applications', form)).status).toBe(303);
}

describe('an assertion of a trusted issuer', () => {
  // @shows AS-49.1, AS-49.3
  test('gives an access token for the linked account, and no refresh or ID token', async () => {
    const tokens = await tokensOf(await ask({ scope: 'openid notes:read' }));
    expect(Object.keys(tokens).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'scope',
      'token_type',
    ]);
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'notes:read' });
    const who = await callApi(portal, '/api/whoami', tokens.access_token);
    expect(await who.text()).toContain('Ada');
  });

  // @shows AS-49.1
  test('is announced in the metadata as the draft specifies', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const metadata = await (await fetch(`${portal.url}/.well-known/${name}`)).json();
      expect(metadata).toMatchObject({
        authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
        grant_types_supported: expect.arrayContaining([JWT_BEARER]) as unknown,
      });
    }
  });

  // @shows AS-49.2
  test('works once, and a refused request does not use it up', async () => {
    const assertion = assertionFor(portal, assistant, idp.key);
    const other = await registerAssistant(portal);
    expect(await errorOf(await present(portal, other, assertion))).toBe('invalid_grant');
    await tokensOf(await present(portal, assistant, assertion));
    expect(await errorOf(await present(portal, assistant, assertion))).toBe('invalid_grant');
  });

  // @shows AS-49.2
  test('sent twice simultaneously with the same jti is accepted exactly once', async () => {
    const assertion = assertionFor(portal, assistant, idp.key);
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => present(portal, assistant, assertion)),
    );
    const accepted = answers.filter(({ status }) => status === 200);
    expect([accepted.length, answers.length]).toEqual([1, 4]);
  });

  // @shows AS-49.3
  test.each<[scope: string | undefined, form: Record<string, string>, granted: string]>([
    ['notes:read', {}, 'notes:read'],
    ['notes:read notes:write', {}, 'notes:read notes:write'],
    ['notes:read notes:write', { scope: 'notes:write' }, 'notes:write'],
    ['notes:read', { scope: 'notes:read notes:write' }, 'notes:read'],
    [undefined, {}, 'notes:read notes:write'],
    [undefined, { scope: 'notes:read offline_access' }, 'notes:read'],
  ])('with the scope %s and the request %o gives %s', async (scope, form, granted) => {
    expect((await tokensOf(await ask({ scope }, form))).scope).toBe(granted);
  });

  // @shows AS-49.3
  test('never gives more than the person is currently permitted', async () => {
    await portal.deny(ADA, 'notes.edit');
    onTestFinished(() => portal.grant(ADA, 'notes.edit'));
    const { scope } = await tokensOf(await ask({ scope: 'notes:read notes:write' }));
    expect(scope).toBe('notes:read');
    expect(await errorOf(await ask({ scope: 'notes:write' }))).toBe('invalid_scope');
  });

  // @shows AS-49.1
  test('is refused from a client without the grant', async () => {
    const other = await registerAssistant(portal, {
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    expect(await errorOf(await ask({}, {}, other))).toBe('unauthorized_client');
  });

  // @shows AS-49.1
  test('is refused from a public client, also if it was stored with the grant', async () => {
    const client = await registerAssistant(portal);
    await portal.application.database.execute(
      'UPDATE oauth_clients SET is_public = 1, secret_hash = NULL WHERE client_id = ?',
      [client.id],
    );
    const assertion = assertionFor(portal, client, idp.key);
    const response = await present(portal, null, assertion, { client_id: client.id });
    expect([response.status, await errorOf(response)]).toEqual([400, 'unauthorized_client']);
  });

  // @shows AS-49.1
  test('is refused from a client that registered itself, also with an initial access token', async () => {
    const at = await startPortal({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: {
        oauth_server: { ...idp.config.oauth_server, registration: 'initial_access_token' },
      },
    });
    onTestFinished(() => at.close());
    const { token } = await at.server.initialAccessTokens.create({ uses: 2 });
    const register = async (grants: readonly string[]) =>
      fetch(`${at.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ redirect_uris: [REDIRECT_URI], grant_types: grants }),
      });
    expect(await errorOf(await register([JWT_BEARER]))).toBe('invalid_client_metadata');
    const registered = (await (await register(['authorization_code', JWT_BEARER])).json()) as {
      readonly client_id: string;
      readonly client_secret: string;
      readonly grant_types: readonly string[];
    };
    expect(registered.grant_types).toEqual(['authorization_code']);
    const client = { id: registered.client_id, secret: registered.client_secret };
    const response = await present(at, client, assertionFor(at, client, idp.key));
    expect([response.status, await errorOf(response)]).toEqual([400, 'unauthorized_client']);
  });

  // @shows AS-49.1
  test('is refused from a client that was stored with the grant, but that no operator registered', async () => {
    const client = await registerAssistant(portal);
    await portal.application.database.execute(
      'UPDATE oauth_clients SET registered_by = ? WHERE client_id = ?',
      ['registration', client.id],
    );
    expect(await errorOf(await ask({}, {}, client))).toBe('unauthorized_client');
  });

  // @shows AS-49.4
  test('is refused for a subject that is not linked, with any e-mail address', async () => {
    const claims = { sub: 'someone', email: ADA, email_verified: true };
    expect(await errorOf(await ask(claims))).toBe('invalid_grant');
  });
});

describe('a token given by an organization', () => {
  // @shows AS-49.5
  test('stops working immediately if the account is suspended', async () => {
    const { access_token: token } = await tokensOf(await ask());
    expect(await isAccepted(token)).toBe(true);
    await portal.suspend(ADA);
    onTestFinished(() => portal.restore(ADA));
    expect(await isAccepted(token)).toBe(false);
    expect(await errorOf(await ask())).toBe('invalid_grant');
  });

  // @shows AS-49.4, AS-49.5
  test('stops working immediately if the subject is unlinked, and stays invalid after a new link', async () => {
    await link(portal, GRACE, 'grace');
    const { access_token: token } = await tokensOf(await ask({ sub: 'grace' }));
    expect(await isAccepted(token)).toBe(true);
    await givenAccess().unlink({ issuer: IDP, subject: 'grace' });
    expect(await isAccepted(token)).toBe(false);
    expect(await errorOf(await ask({ sub: 'grace' }))).toBe('invalid_grant');
    await link(portal, GRACE, 'grace');
    expect(await isAccepted(token)).toBe(false);
    await tokensOf(await ask({ sub: 'grace' }));
  });

  // @shows AS-49.5
  test('stops working immediately if the issuer is no longer trusted, or the grant is off', async () => {
    const { access_token: token } = await tokensOf(await ask());
    expect(await isAccepted(token)).toBe(true);
    const { DATABASE_URL: databaseUrl = '' } = portal.env;
    const { key_path } = portal.server.config;
    const acceptedWith = async (oauth_server: object) => {
      const config = { oauth_server: { ...oauth_server, key_path } };
      const later = await startPortal({ config, databaseUrl });
      try {
        return await isAccepted(token, later);
      } finally {
        await later.close();
      }
    };
    expect(await acceptedWith(idp.config.oauth_server)).toBe(true);
    expect(await acceptedWith({ jwt_bearer_grant: true, trusted_issuers: {} })).toBe(false);
    expect(await acceptedWith({ jwt_bearer_grant: false })).toBe(false);
  });

  // @shows AS-49.5
  test('is valid as long as its client has the grant, unlike a token that a person allowed', async () => {
    const client = await registerBoth();
    const { access_token: given } = await tokensOf(await ask({}, {}, client));
    const allowed = await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const acceptedAfter = async (changes: ClientChanges) => {
      await portal.server.clients.update(client.id, changes);
      return [await isAccepted(given), await isAccepted(allowed.access_token)];
    };
    expect(await acceptedAfter({ removeGrants: [JWT_BEARER] })).toEqual([false, true]);
    expect(await acceptedAfter({ addGrants: [JWT_BEARER] })).toEqual([true, true]);
    const withoutCode = {
      removeGrants: ['authorization_code'],
      removeRedirectUris: [REDIRECT_URI],
    };
    expect(await acceptedAfter(withoutCode)).toEqual([true, false]);
    const refreshed = await refresh(portal, client, allowed.refresh_token);
    expect([refreshed.status, await errorOf(refreshed)]).toEqual([400, 'invalid_grant']);
  });

  // @shows AS-49.5, AS-49.6
  test('is listed only while its client has the grant with which it began', async () => {
    const client = await registerBoth();
    await tokensOf(await ask({}, {}, client));
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const listedAfter = async (changes: ClientChanges) => {
      await portal.server.clients.update(client.id, changes);
      const { items } = await portal.server.access.list({ clientId: client.id });
      return items.map(({ givenBy }) => givenBy);
    };
    expect(await listedAfter({ name: 'Both' })).toEqual([null, IDP]);
    expect(await listedAfter({ removeGrants: [JWT_BEARER] })).toEqual([null]);
    await portal.server.clients.update(client.id, { addGrants: [JWT_BEARER] });
    const withoutCode = {
      removeGrants: ['authorization_code'],
      removeRedirectUris: [REDIRECT_URI],
    };
    expect(await listedAfter(withoutCode)).toEqual([IDP]);
  });

  // @shows AS-49.6
  test('is on the page of applications, and in the list for operators', async () => {
    const client = await registerAssistant(portal, { name: 'Listed' });
    await tokensOf(await ask({}, {}, client));
    const ada = await portal.signedIn(ADA);
    const page = await (await ada.get('/oauth/applications')).text();
    expect(page).toContain(`Your organization gave this access (<bdi>${IDP}</bdi>)`);
    const { items } = await portal.server.access.list({ clientId: client.id });
    expect(items).toMatchObject([{ givenBy: IDP }]);
  });

  // @shows AS-49.6
  test('stays ended after the person ends it, until an operator allows it again', async () => {
    const client = await registerAssistant(portal, { name: 'Ended by the person' });
    const { access_token: token } = await tokensOf(await ask({}, {}, client));
    await removeOnPage(client);
    expect(await isAccepted(token)).toBe(false);
    expect(await errorOf(await ask({}, {}, client))).toBe('invalid_grant');
    const person = await accountOf(portal, ADA);
    await givenAccess().allow({ person, clientId: client.id });
    expect(await isAccepted(token)).toBe(false);
    await tokensOf(await ask({}, {}, client));
  });

  // @shows AS-49.6
  test('stays ended after an operator ends it, only for this person and client', async () => {
    const client = await registerAssistant(portal);
    await link(portal, GRACE, 'grace at work');
    await tokensOf(await ask({ sub: 'grace at work' }, {}, client));
    const { access_token: token } = await tokensOf(await ask({}, {}, client));
    const { items } = await portal.server.access.list({ person: await accountOf(portal, ADA) });
    const own = items.filter((each) => each.client.id === client.id);
    await portal.server.access.revokeAuthorizations(own.map(({ id }) => id));
    expect(await isAccepted(token)).toBe(false);
    expect(await errorOf(await ask({}, {}, client))).toBe('invalid_grant');
    await tokensOf(await ask({ sub: 'grace at work' }, {}, client));
    await tokensOf(await ask());
  });

  // @shows AS-49.6
  test('is refused after an operator ended what the person had allowed this client', async () => {
    const client = await registerBoth();
    const person = await accountOf(portal, ADA);
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const { items } = await portal.server.access.list({ person, clientId: client.id });
    await portal.server.access.revokeAuthorizations(items.map(({ id }) => id));
    expect(await errorOf(await ask({}, {}, client))).toBe('invalid_grant');
    await givenAccess().allow({ person, clientId: client.id });
    await tokensOf(await ask({}, {}, client));
  });

  // @shows AS-49.6
  test('is refused after the person removed the client from their page', async () => {
    const client = await registerBoth();
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    await removeOnPage(client);
    expect(await errorOf(await ask({}, {}, client))).toBe('invalid_grant');
    await tokensOf(await ask());
  });

  // @shows AS-49.6
  test('is refused for every client after all access of the person was ended', async () => {
    const person = await newPerson('all-ended');
    const [one, other] = [await registerAssistant(portal), await registerAssistant(portal)];
    // The server stores only the link about the person.
    expect(await portal.server.access.revokePerson(person)).toEqual({
      authorizations: 0,
      requests: 0,
    });
    const askFor = (client: TestClient) => ask({ sub: 'all-ended' }, {}, client);
    expect(await errorOf(await askFor(one))).toBe('invalid_grant');
    await givenAccess().allow({ person, clientId: one.id });
    const { access_token: token } = await tokensOf(await askFor(one));
    expect(await isAccepted(token)).toBe(true);
    expect(await errorOf(await askFor(other))).toBe('invalid_grant');
    await portal.server.access.revokePerson(person);
    expect(await isAccepted(token)).toBe(false);
    expect(await errorOf(await askFor(one))).toBe('invalid_grant');
  });

  // @shows AS-49.6
  test('works for a person again after an operator allows it, except for what was ended separately', async () => {
    const person = await newPerson('allowed-again');
    const [one, other] = [await registerAssistant(portal), await registerAssistant(portal)];
    const askFor = (client: TestClient) => ask({ sub: 'allowed-again' }, {}, client);
    await tokensOf(await askFor(one));
    const { items } = await portal.server.access.list({ person });
    await portal.server.access.revokeAuthorizations(items.map(({ id }) => id));
    const { access_token: token } = await tokensOf(await askFor(other));
    await portal.server.access.revokePerson(person);
    await givenAccess().allow({ person, clientId: null });
    expect(await isAccepted(token)).toBe(false);
    const again = await tokensOf(await askFor(other));
    expect(await isAccepted(again.access_token)).toBe(true);
    expect(await errorOf(await askFor(one))).toBe('invalid_grant');
    await expect(givenAccess().allow({ person, clientId: null })).rejects.toThrow(
      'access was not ended for all clients of this person',
    );
    await expect(givenAccess().allow({ person, clientId: other.id })).rejects.toThrow(
      'access was ended for this person and client',
    );
    await givenAccess().allow({ person, clientId: one.id });
    await tokensOf(await askFor(one));
  });

  // @shows AS-49.6
  test('is invalid if its access is ended at the same moment, in any order', async () => {
    const person = await newPerson('raced');
    const { access } = portal.server;
    for (let round = 0; round < 8; round += 1) {
      const client = await registerAssistant(portal);
      const answers = await Promise.all([
        ask({ sub: 'raced' }, {}, client),
        access.revokePerson(person),
        ask({ sub: 'raced' }, {}, client),
        access.revokePerson(person),
      ]);
      for (const answer of answers) {
        if (!(answer instanceof Response) || answer.status !== 200) continue;
        const { access_token: token } = (await answer.json()) as Tokens;
        expect(await isAccepted(token)).toBe(false);
      }
      expect(await errorOf(await ask({ sub: 'raced' }, {}, client))).toBe('invalid_grant');
      await givenAccess().allow({ person, clientId: null });
    }
  });

  // @shows AS-49.6
  test('cannot be ended for an unknown person, or allowed for an unknown client', async () => {
    const stranger = { provider: 'users', id: 'unknown' };
    await expect(portal.server.access.revokePerson(stranger)).rejects.toThrow('Nothing is stored');
    await expect(givenAccess().allow({ person: stranger, clientId: null })).rejects.toThrow(
      'There is nothing to undo: access was not ended for all clients of this person. To ' +
        'allow a single client again, pass its id',
    );
    const person = await newPerson('unknown-client');
    await portal.server.access.revokePerson(person);
    await expect(givenAccess().allow({ person, clientId: 'unknown' })).rejects.toThrow(
      'access was ended for this person and client',
    );
  });

  // @shows AS-49.6
  test('stays ended after any time without use', async () => {
    let now = Date.now();
    const at = await startPortal({ config: idp.config, clock: () => now });
    onTestFinished(() => at.close());
    const [ended, allowed] = [await registerAssistant(at), await registerAssistant(at)];
    await link(at, ADA);
    const person = await accountOf(at, ADA);
    const askFor = (client: TestClient) =>
      present(at, client, assertionFor(at, client, idp.key, {}, now));
    await tokensOf(await askFor(ended));
    const { items } = await at.server.access.list({ person });
    await at.server.access.revokeAuthorizations(items.map(({ id }) => id));
    await at.server.access.revokePerson(person);
    await at.server.organizationAccess?.allow({ person, clientId: allowed.id });
    now += 200 * 86_400_000;
    await at.server.prune();
    expect(await errorOf(await askFor(await registerAssistant(at)))).toBe('invalid_grant');
    await tokensOf(await askFor(allowed));
    await at.server.organizationAccess?.allow({ person, clientId: null });
    expect(await errorOf(await askFor(ended))).toBe('invalid_grant');
  });

  // @shows AS-49.6
  test('ends together with all that was given to this client, when one is ended in the lists', async () => {
    const client = await registerBoth();
    const person = await accountOf(portal, ADA);
    await tokensOf(await ask({ scope: 'notes:read' }, {}, client));
    await tokensOf(await ask({ scope: 'notes:write' }, {}, client));
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const listed = async () =>
      (await portal.server.access.list({ person, clientId: client.id })).items;
    const given = (await listed()).find(({ givenBy }) => givenBy !== null);
    await portal.server.access.revokeAuthorization(given?.id ?? '');
    // The access that the person allowed stays.
    expect((await listed()).map(({ givenBy }) => givenBy)).toEqual([null]);
  });

  // @shows AS-49.6
  test('ends with everything of a person, and erasing removes the links', async () => {
    await link(portal, GRACE, 'erased');
    const { access_token: token } = await tokensOf(await ask({ sub: 'erased' }));
    const grace = await accountOf(portal, GRACE);
    await portal.server.access.revokePerson(grace);
    expect(await isAccepted(token)).toBe(false);
    expect(await errorOf(await ask({ sub: 'erased' }))).toBe('invalid_grant');
    await portal.server.access.erasePerson(grace);
    const { items } = await givenAccess().list(100);
    expect(items.filter(({ person }) => person.id === grace.id)).toEqual([]);
    // Ended access stays ended until an operator allows it.
    await link(portal, GRACE, 'erased');
    expect(await errorOf(await ask({ sub: 'erased' }))).toBe('invalid_grant');
    await givenAccess().allow({ person: grace, clientId: null });
    await tokensOf(await ask({ sub: 'erased' }));
  });
});

describe('links of organization subjects to accounts', () => {
  // @shows AS-49.6
  test('are removed with the person, even if nothing else of the person is stored', async () => {
    const person = await newPerson('only-linked');
    const erased = { authorizations: 0, requests: 0, subject: false, events: 0 };
    expect(await portal.server.access.erasePerson(person)).toEqual(erased);
    expect(await errorOf(await ask({ sub: 'only-linked' }))).toBe('invalid_grant');
    await expect(portal.server.access.erasePerson(person)).rejects.toThrow('Nothing is stored');
  });

  // @shows AS-49.4
  test('need one existing account, and a trusted issuer', async () => {
    const ada = await accountOf(portal, ADA);
    const grace = await accountOf(portal, GRACE);
    const access = givenAccess();
    await access.link({ issuer: IDP, subject: SUBJECT }, ada);
    await expect(access.link({ issuer: IDP, subject: SUBJECT }, grace)).rejects.toThrow(
      'linked to another account',
    );
    await expect(
      access.link({ issuer: 'https://other.example', subject: 'x' }, ada),
    ).rejects.toThrow('not in oauth_server:trusted_issuers');
    await expect(
      access.link({ issuer: IDP, subject: 'x' }, { provider: 'users', id: 'unknown' }),
    ).rejects.toThrow('No active account');
    await expect(access.unlink({ issuer: IDP, subject: 'unknown' })).rejects.toThrow(
      'No account is linked',
    );
  });
});

describe('the tenant of an issuer', () => {
  /** A portal on the same database, for the issuer with this tenant. */
  async function startFor(tenant: string | undefined, before?: RunningPortal) {
    const { trusted_issuers, ...more } = idp.config.oauth_server;
    const settings = (trusted_issuers as Record<string, object>)[IDP];
    const key = before === undefined ? {} : { key_path: before.server.config.key_path };
    const trusted = { [IDP]: { ...settings, ...(tenant === undefined ? {} : { tenant }) } };
    const started = await startPortal({
      config: { oauth_server: { ...more, ...key, trusted_issuers: trusted } },
      ...(before === undefined ? {} : { databaseUrl: before.env['DATABASE_URL'] ?? '' }),
    });
    onTestFinished(() => started.close());
    return started;
  }

  const asked = (at: RunningPortal, client: TestClient, tenant?: string) =>
    present(at, client, assertionFor(at, client, idp.key, { tenant }));

  // @shows AS-49.4, AS-49.5
  test('is part of the identity: the same subject in a different tenant is a different person', async () => {
    const acme = await startFor('acme');
    const client = await registerAssistant(acme);
    await link(acme, ADA);
    const { access_token: token } = await tokensOf(await asked(acme, client, 'acme'));
    expect(await isAccepted(token, acme)).toBe(true);
    const globex = await startFor('globex', acme);
    expect(await isAccepted(token, globex)).toBe(false);
    expect(await errorOf(await asked(globex, client, 'globex'))).toBe('invalid_grant');
    const none = await startFor(undefined, acme);
    expect(await isAccepted(token, none)).toBe(false);
    expect(await errorOf(await asked(none, client))).toBe('invalid_grant');
    await link(globex, GRACE);
    const other = await tokensOf(await asked(globex, client, 'globex'));
    const who = await callApi(globex, '/api/whoami', other.access_token);
    expect(await who.text()).toContain('Grace');
    expect(await isAccepted(token, acme)).toBe(true);
  });

  // @shows AS-49.4
  test('is listed with a link, and unlinking removes the subject in each tenant', async () => {
    const acme = await startFor('acme');
    await link(acme, ADA);
    const none = await startFor(undefined, acme);
    await link(none, GRACE);
    const tenants = async () =>
      (await none.server.organizationAccess?.list(10))?.items.map(({ tenant }) => tenant);
    expect((await tenants())?.toSorted()).toEqual(['acme', null]);
    await none.server.organizationAccess?.unlink({ issuer: IDP, subject: SUBJECT });
    expect(await tenants()).toEqual([]);
  });
});

describe('the keys of an issuer', () => {
  // @shows AS-49.7
  test('in a file are read again: a new key works, and a withdrawn key is refused immediately', async () => {
    onTestFinished(() => idp.publish(idp.key));
    const next = newKey('ES256');
    const by = (key: typeof next) =>
      present(portal, assistant, assertionFor(portal, assistant, key));
    expect(await errorOf(await by(next))).toBe('invalid_grant');
    await idp.publish(next);
    await tokensOf(await by(next));
    expect(await errorOf(await by(idp.key))).toBe('invalid_grant');
  });

  // @shows AS-49.7
  test('at a URL are fetched again for a new key, and a withdrawn key is refused after a minute', async () => {
    let now = Date.now();
    const clock = () => now;
    const host = await startDocumentHost();
    const [old, next] = [newKey('RS256'), newKey('RS256')];
    const url = host.publish('/keys', { keys: [old.jwk] });
    const settings = { jwks_uri: url, algorithms: ['RS256'], asserts: ['people'] };
    const at = await startPortal({
      clock,
      outbound: host.outbound,
      config: {
        oauth_server: { jwt_bearer_grant: true, trusted_issuers: { [IDP]: settings } },
      },
    });
    onTestFinished(async () => {
      await at.close();
      await host.close();
    });
    const client = await registerAssistant(at);
    await link(at, ADA);
    const by = (key: typeof old) => present(at, client, assertionFor(at, client, key, {}, now));
    await tokensOf(await by(old));
    host.publish('/keys', { keys: [next.jwk] });
    // Tokens signed with unknown keys cannot make the server fetch again and again.
    for (let round = 0; round < 20; round += 1)
      expect(await errorOf(await by(newKey('RS256')))).toBe('invalid_grant');
    expect(host.asked).toHaveLength(1);
    now += 15_000;
    await tokensOf(await by(next));
    expect(host.asked).toHaveLength(2);
    expect(await errorOf(await by(old))).toBe('invalid_grant');
    host.publish('/keys', { keys: [] });
    now += 60_000;
    expect(await errorOf(await by(next))).toBe('invalid_grant');
    host.answer('/keys', (_, response) => void response.writeHead(500).end());
    now += 60_000;
    const unavailable = await by(next);
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '5']);
  });
});

describe('the keys of an issuer at a URL, with jwks_lifetime 0', () => {
  /** A portal for such an issuer, and what the issuer publishes. */
  const startStrict = async () => {
    const host = await startDocumentHost();
    const key = newKey('RS256');
    const url = host.publish('/keys', { keys: [key.jwk] });
    const settings = { algorithms: ['RS256'], asserts: ['people'], jwks_lifetime: 0 };
    const trusted_issuers = { [IDP]: { ...settings, jwks_uri: url } };
    const at = await startPortal({
      outbound: host.outbound,
      config: { oauth_server: { jwt_bearer_grant: true, trusted_issuers } },
    });
    onTestFinished(async () => {
      await at.close();
      await host.close();
    });
    const client = await registerAssistant(at);
    await link(at, ADA);
    return { host, key, by: (by: typeof key) => present(at, client, assertionFor(at, client, by)) };
  };

  // @shows AS-49.7
  test('are fetched for each assertion that they signed: a withdrawn key is refused immediately', async () => {
    const { host, key, by } = await startStrict();
    for (let round = 0; round < 8; round += 1) await tokensOf(await by(key));
    expect(host.asked).toHaveLength(8);
    for (let round = 0; round < 8; round += 1)
      expect(await errorOf(await by(newKey('RS256')))).toBe('invalid_grant');
    expect(host.asked).toHaveLength(8);
    host.publish('/keys', { keys: [newKey('RS256').jwk] });
    expect(await errorOf(await by(key))).toBe('invalid_grant');
  });

  // @shows AS-49.7
  test('are not reused from an earlier fetch if the fetch fails', async () => {
    const { host, key, by } = await startStrict();
    await tokensOf(await by(key));
    host.answer('/keys', (_, response) => void response.writeHead(500).end());
    for (let round = 0; round < 2; round += 1) {
      const unavailable = await by(key);
      expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect(host.asked).toHaveLength(2);
  });
});

describe('an assertion that is bound to a key', () => {
  // @shows AS-49.8
  test('works only with a proof of this key, and the token is bound to it', async () => {
    const bound = await startPortal({
      config: { oauth_server: { ...idp.config.oauth_server, dpop: 'accept' } },
    });
    onTestFinished(() => bound.close());
    const client = await registerAssistant(bound);
    await link(bound, ADA);
    const key = newDpopKey();
    const send = (proofKey: typeof key | null, cnf: unknown) =>
      requestWithProof(
        bound,
        client,
        proofKey === null ? null : tokenProof(proofKey, bound.server.issuer, Date.now()),
        { grant_type: JWT_BEARER, assertion: assertionFor(bound, client, idp.key, { cnf }) },
      );
    expect(await errorOf(await send(null, { jkt: jktOf(key) }))).toBe('invalid_grant');
    expect(await errorOf(await send(newDpopKey(), { jkt: jktOf(key) }))).toBe('invalid_grant');
    expect((await tokensOf(await send(key, { jkt: jktOf(key) }))).token_type).toBe('DPoP');
    expect((await tokensOf(await send(key, undefined))).token_type).toBe('DPoP');
    expect((await tokensOf(await send(null, undefined))).token_type).toBe('Bearer');
  });

  // @shows AS-49.2
  test('is not used up by a request without the required proof', async () => {
    const strict = await startPortal({
      config: { oauth_server: { ...idp.config.oauth_server, dpop: 'require' } },
    });
    onTestFinished(() => strict.close());
    const client = await registerAssistant(strict);
    await link(strict, ADA);
    const assertion = assertionFor(strict, client, idp.key);
    const form = { grant_type: JWT_BEARER, assertion };
    const send = (proof: string | null) => requestWithProof(strict, client, proof, form);
    expect((await send(null)).status).toBe(400);
    expect((await strict.server.access.list({ clientId: client.id })).items).toEqual([]);
    const proof = tokenProof(newDpopKey(), strict.server.issuer, Date.now());
    expect((await tokensOf(await send(proof))).token_type).toBe('DPoP');
  });

  // @shows AS-49.8
  test('gives no token for a proof that was used before, and is then not used up', async () => {
    const bound = await startPortal({
      config: { oauth_server: { ...idp.config.oauth_server, dpop: 'accept' } },
    });
    onTestFinished(() => bound.close());
    const client = await registerAssistant(bound);
    await link(bound, ADA);
    const newProof = () => tokenProof(newDpopKey(), bound.server.issuer, Date.now());
    const newForm = () => ({
      grant_type: JWT_BEARER,
      assertion: assertionFor(bound, client, idp.key),
    });
    const proof = newProof();
    expect(
      (await tokensOf(await requestWithProof(bound, client, proof, newForm()))).token_type,
    ).toBe('DPoP');
    const form = newForm();
    const again = await requestWithProof(bound, client, proof, form);
    expect(await errorOf(again)).toBe('invalid_dpop_proof');
    expect(
      (await tokensOf(await requestWithProof(bound, client, newProof(), form))).token_type,
    ).toBe('DPoP');
  });
});

// @shows AS-49.9
test('with the JWT bearer grant off, there is no grant and no metadata for it', async () => {
  const { jwt_bearer_grant: _, ...off } = idp.config.oauth_server;
  const plain = await startPortal({ config: { oauth_server: off } });
  onTestFinished(() => plain.close());
  const metadata = await (
    await fetch(`${plain.url}/.well-known/oauth-authorization-server`)
  ).json();
  expect(JSON.stringify(metadata)).not.toContain('jwt-bearer');
  expect(metadata).not.toHaveProperty('authorization_grant_profiles_supported');
  const client = await registerAssistant(plain, {
    grants: ['client_credentials'],
    scopes: ['notes:read'],
  });
  expect(await errorOf(await present(plain, client, 'x'))).toBe('unsupported_grant_type');
});

// @shows AS-2.49
test.each<[settings: object, problem: RegExp]>([
  [
    { jwks_file: '/keys.json', jwks_uri: 'https://idp.example/keys' },
    /either jwks_uri or jwks_file/,
  ],
  [{}, /either jwks_uri or jwks_file/],
  [{ jwks_uri: 'http://idp.example/keys' }, /is not https/],
  [{ jwks_file: 'keys.json' }, /must be an absolute path/],
  [{ jwks_file: '/keys.json', algorithms: ['HS256'] }, /must be one of RS256/],
  [{ jwks_file: '/keys.json', algorithms: ['none'] }, /must be one of RS256/],
  [{ jwks_file: '/keys.json', algorithms: [] }, /must contain at least one algorithm/],
  [{ jwks_file: '/keys.json', asserts: ['anything'] }, /must be "people"/],
  [{ jwks_file: '/keys.json', clock_tolerance: 301 }, /must be at most 300/],
  [{ jwks_file: '/keys.json', tenant: 'x'.repeat(256) }, /must have at most 255 characters/],
])('a trusted issuer with %o is a configuration error', async (settings, problem) => {
  const whole = { algorithms: ['ES256'], asserts: ['people'], ...settings };
  const config = { oauth_server: { trusted_issuers: { [IDP]: whole } } };
  await expect(startPortal({ config })).rejects.toThrow(problem);
});

// @shows AS-2.49
test.each(['http://idp.example', 'https://[', 'https://a:b@idp.example', 'https://idp.example?a'])(
  'the trusted issuer %s is a configuration error',
  async (issuer) => {
    const settings = { jwks_file: '/keys.json', algorithms: ['ES256'], asserts: ['people'] };
    const config = { oauth_server: { trusted_issuers: { [issuer]: settings } } };
    await expect(startPortal({ config })).rejects.toThrow(/trusted_issuers.*https/);
  },
);

// @shows AS-2.49
test('the server does not accept an issuer on its own origin as trusted', async () => {
  const settings = { jwks_file: '/keys.json', algorithms: ['ES256'], asserts: ['people'] };
  const own = { trusted_issuers: { 'https://app.example/idp': settings } };
  const config = { public_url: 'https://app.example', oauth_server: own };
  await expect(startPortal({ config, mode: 'prod' })).rejects.toThrow(
    'has the same origin as this server',
  );
});
