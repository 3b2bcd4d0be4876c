// @engines sqlite: pages are the same on every database
import { calculateJwkThumbprint } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClientRegistration } from 'portico';
import { newKey } from './support/assertions.ts';
import { createPageClock } from './support/clock.ts';
import { factsOf, PAGES, startAdministered } from './support/administration.ts';
import { registerBanker } from './support/fapi2.ts';
import {
  ADA,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  type RunningPortal,
} from './support/portal.ts';
import type { Visitor } from './support/visitor.ts';
import { ACCOUNT, CLUSTER, startPlatform, type Platform } from './support/workloads.ts';

/** What the page of an application shows about applications of every kind. */

const clock = createPageClock();
const { minute } = clock;
let cluster: Platform;
let portal: RunningPortal;
let ada: Visitor;

const config = () => ({
  oauth_server: {
    private_key_jwt: true,
    dpop: 'accept',
    pushed_authorization_requests: 'accept',
    workload_identity: true,
    trusted_issuers: { [CLUSTER]: cluster.settings },
    registration: 'initial_access_token',
    registration_secret_ttl: 7200,
    scopes: { 'old:read': 'Read old notes' },
  },
});

beforeAll(async () => {
  cluster = await startPlatform();
  ({ portal } = await startAdministered({ clock: clock.now, config: config() }));
  await portal.server.keys.generate('ES256');
});
afterAll(async () => {
  await portal.close();
  await cluster.close();
});
beforeEach(async () => {
  // The limits of a minute must not apply to the next test.
  clock.advance(61);
  ada = await portal.signedIn(ADA);
});

const pageOf = (id: string) => `${PAGES}/client?${new URLSearchParams({ id })}`;
const facts = async (id: string) => factsOf(await ada.get(pageOf(id)));

/** Registers a service, which acts as itself. Returns its id. */
async function service(registration: Partial<ClientRegistration>): Promise<string> {
  const { client } = await portal.server.clients.create({
    name: 'A service',
    scopes: ['notes:read'],
    grants: ['client_credentials'],
    ...registration,
  });
  return client.id;
}

describe('the page of an application shows', () => {
  test('the keys that the server stores, with the names that their owner gave them', async () => {
    const [named, nameless] = [newKey('ES256', 'the "first"'), newKey('EdDSA')];
    const { kid: _, ...withoutName } = nameless.jwk as Readonly<Record<string, unknown>>;
    const id = await service({ jwks: { keys: [{ ...named.jwk, alg: 'ES256' }, withoutName] } });
    const [first, second] = await Promise.all(
      [named, nameless].map(({ jwk }) => calculateJwkThumbprint(jwk as object)),
    );
    expect(await facts(id)).toEqual({
      badges: ['confidential'],
      Id: id,
      'Registered by': 'an operator',
      Since: minute(),
      Grants: 'client_credentials',
      Scopes: 'notes:read Read your notes',
      'Redirect URIs': 'none',
      'Authenticates by': 'private_key_jwt',
      Keys: `"the \\u{22}first\\u{22}" ES256 ${first} OKP ${second}`,
    });
  });

  test('the URL at which the application publishes its keys', async () => {
    const id = await service({ jwksUri: 'https://client.example/keys.json' });
    expect(await facts(id)).toMatchObject({ Keys: 'at https://client.example/keys.json' });
  });

  test('the workload that authenticates, and the issuer of its tokens', async () => {
    const shown = await facts(await service({ workload: { issuer: CLUSTER, subject: ACCOUNT } }));
    expect(shown).toMatchObject({ Workload: ACCOUNT, 'Issuer of its tokens': CLUSTER });
    expect(shown).not.toHaveProperty('Keys');
  });

  test('what the application demands of all its requests and tokens', async () => {
    const pushing = await registerClient(portal, { requirePushedAuthorizationRequests: true });
    const bound = await registerClient(portal, { dpopBoundAccessTokens: true });
    const demands = async (id: string) => {
      const { Requests, Tokens } = await facts(id);
      return { Requests, Tokens };
    };
    expect(await demands(pushing.id)).toEqual({ Requests: 'pushed (RFC 9126), and no others' });
    expect(await demands(bound.id)).toEqual({ Tokens: 'bound to its key (DPoP)' });
  });

  test('when an application that registered itself was last used, and when its secret expires', async () => {
    const asking = { uses: 1, lifetime: 3600, note: '' };
    const { token } = await portal.server.initialAccessTokens.create(asking);
    const registered = await fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], scope: 'notes:read' }),
    });
    const { client_id: id } = (await registered.json()) as { client_id: string };
    const [since, end] = [minute(), minute(7200)];
    const before = await facts(id);
    expect(before).toMatchObject({ Since: since, 'Secret expires': end });
    expect(before).not.toHaveProperty('Last used');
    clock.advance(3600);
    const client = { id, secret: '' };
    await obtainCode(portal, client, await portal.signedIn(ADA), { scope: 'notes:read' });
    expect(await facts(id)).toMatchObject({ Since: since, 'Last used': minute() });
  });

  test('the profile of the application, and why it gets no access on this server', async () => {
    const { id } = await registerBanker(portal, { profile: 'fapi2' });
    const shown = await facts(id);
    expect(shown).toMatchObject({ Profile: 'fapi2', 'ID tokens signed with': 'ES256' });
    expect(shown).not.toHaveProperty('Gets no access now');
    const scoped = await registerClient(portal, { scopes: ['old:read', 'notes:read'] });
    const other = await startAdministered({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      clock: clock.now,
    });
    try {
      const visitor = await other.portal.signedIn(ADA);
      expect(await factsOf(await visitor.get(pageOf(id)))).toMatchObject({
        'Gets no access now': expect.stringContaining(
          'it has the profile fapi2, which requires oauth_server:dpop',
        ) as string,
      });
      expect(await factsOf(await visitor.get(pageOf(scoped.id)))).toMatchObject({
        Scopes: 'old:read no longer offered notes:read Read your notes',
      });
    } finally {
      await other.portal.close();
    }
  });
});
