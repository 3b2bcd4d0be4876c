import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClock } from './support/clock.ts';
import { jktOf, newDpopKey, requestWithProof, tokenProof } from './support/dpop.ts';
import {
  assertionFor,
  JWT_BEARER,
  link,
  present,
  startIdentityProvider,
} from './support/identity-provider.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  GRACE,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
  VERIFIER,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** Which earlier scopes a client keeps if it requests more (decision 38). */
let portal: RunningPortal;
let client: TestClient;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    config: (url) => ({ oauth_server: { challenge: true, audience: `${url}/api` } }),
  });
});
afterAll(() => portal.close());

/** Creates a client to which no person has given access. */
async function newClient(
  scopes = ['openid', 'profile', 'notes:read', 'notes:write'],
): Promise<void> {
  client = await registerClient(portal, { scopes });
}

const scopesOf = ({ scope }: Pick<Tokens, 'scope'>) => scope.split(' ').toSorted();
const ask = (scope: string, email = ADA) => obtainTokens(portal, client, email, { scope });
const statusOf = async (path: string, { access_token }: Tokens, init: RequestInit = {}) =>
  (await callApi(portal, path, access_token, init)).status;
const read = (tokens: Tokens) => statusOf('/api/notes', tokens);
const write = (tokens: Tokens) =>
  statusOf('/api/notes', tokens, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"text":"Hello"}',
  });

describe('access that was granted before', () => {
  // @shows AS-8.18
  test('stays if the client requests one more scope, also after a refresh', async () => {
    await newClient();
    const first = await ask('notes:read');
    expect([await read(first), await write(first)]).toEqual([200, 403]);
    const second = await ask('notes:write');
    expect(scopesOf(second)).toEqual(['notes:read', 'notes:write']);
    expect([await read(second), await write(second)]).toEqual([200, 201]);
    const refreshed = (await (
      await refresh(portal, client, second.refresh_token)
    ).json()) as Tokens;
    expect([await read(refreshed), await write(refreshed)]).toEqual([200, 201]);
    const old = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
    expect([await read(old), await write(old)]).toEqual([200, 403]);
  });

  // @shows AS-8.18
  test('an earlier scope that requires a bound token is left out if the request names no key', async () => {
    const bound = await startPortal({
      config: (url) => ({
        oauth_server: {
          challenge: true,
          audience: `${url}/api`,
          dpop: 'accept',
          scopes: { 'notes:write': { label: 'Write notes', dpop: true } },
        },
      }),
    });
    onTestFinished(() => bound.close());
    const own = await registerClient(bound, { scopes: ['notes:read', 'notes:write'] });
    const visitor = await bound.signedIn(ADA);
    const key = newDpopKey();
    const first = await requestWithProof(
      bound,
      own,
      tokenProof(key, bound.server.issuer, Date.now()),
      {
        grant_type: 'authorization_code',
        code: await obtainCode(bound, own, visitor, { scope: 'notes:write' }),
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      },
    );
    expect(first.status).toBe(200);
    const shown = async (changes: Readonly<Record<string, string>>) => {
      const url = authorizationUrl(bound, own, { scope: 'notes:read', ...changes });
      return (await (await visitor.get(url)).text()).includes('Write notes');
    };
    expect([await shown({}), await shown({ dpop_jkt: jktOf(key) })]).toEqual([false, true]);
    const unbound = await obtainTokens(bound, own, ADA, { scope: 'notes:read' });
    expect(scopesOf(unbound)).toEqual(['notes:read']);
  });

  test('is shown on the page with everything that will be granted', async () => {
    await newClient();
    await ask('notes:read');
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.visit(authorizationUrl(portal, client, { scope: 'notes:write' }));
    const html = await page.text();
    expect(html).toContain('Read your notes');
    expect(html).toContain('Write notes for you');
  });
});

describe('a request for one more scope', () => {
  const granted = async (scope: string, email = ADA) => scopesOf(await ask(scope, email));

  // @shows AS-8.18
  test('does not add what a different person allowed, or a different client received', async () => {
    await newClient();
    await ask('notes:read');
    await portal.grant(GRACE, 'notes.edit');
    expect(await granted('notes:write', GRACE)).toEqual(['notes:write']);
    await newClient();
    expect(await granted('notes:write')).toEqual(['notes:write']);
  });

  async function revoke({ refresh_token: token }: Tokens): Promise<void> {
    const headers = { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
    const body = new URLSearchParams({ token });
    expect(
      (await fetch(`${portal.url}/oauth/revoke`, { method: 'POST', headers, body })).status,
    ).toBe(200);
  }

  // @shows AS-8.18
  test('does not add what was revoked or has expired', async () => {
    await newClient();
    await revoke(await ask('notes:read'));
    expect(await granted('notes:write')).toEqual(['notes:write']);
    await newClient();
    await ask('notes:read');
    clock.advance(2_592_001);
    expect(await granted('notes:write')).toEqual(['notes:write']);
  });

  test('does not add scopes whose permission the person lost, and is denied without any permission', async () => {
    await newClient();
    await ask('notes:read');
    onTestFinished(async () => {
      for (const permission of ['notes:read', 'notes.edit']) await portal.grant(ADA, permission);
    });
    await portal.deny(ADA, 'notes:read');
    expect(await granted('notes:write')).toEqual(['notes:write']);
    await portal.grant(ADA, 'notes:read');
    await portal.deny(ADA, 'notes.edit');
    const visitor = await portal.signedIn(ADA);
    const answer = locationOf(
      await visitor.get(authorizationUrl(portal, client, { scope: 'notes:write' })),
    );
    expect(answer.searchParams.get('error')).toBe('access_denied');
  });

  test('does not add openid or an ID token, which each request must request', async () => {
    await newClient();
    await ask('openid profile notes:read');
    const more = await ask('notes:write');
    expect(scopesOf(more)).toEqual(['notes:read', 'notes:write', 'profile']);
    expect(more).not.toHaveProperty('id_token');
  });

  test('does not add access that is revoked before the person answers', async () => {
    await newClient();
    const before = await ask('notes:read');
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.visit(authorizationUrl(portal, client, { scope: 'notes:write' }));
    await revoke(before);
    const code = locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.get(
      'code',
    );
    const tokens = (await (await exchangeCode(portal, client, code ?? '')).json()) as Tokens;
    expect(scopesOf(tokens)).toEqual(['notes:write']);
  });

  // @shows AS-8.18
  test.each([
    [
      'after Allow',
      (visitor: Visitor, page: Response) => visitor.submit(page, { decision: 'allow' }),
    ],
    ['after a reload of the page', (visitor: Visitor, page: Response) => visitor.get(page.url)],
  ])('grants nothing %s if the person has lost all its permissions', async (_, goOn) => {
    await newClient();
    await ask('notes:read');
    const visitor = portal.visitor();
    // A request that waited for sign-in has a separate URL.
    const login = await visitor.visit(authorizationUrl(portal, client, { scope: 'notes:write' }));
    const page = await visitor.get(locationOf(await signIn(visitor, login, ADA)).href);
    expect(page.status).toBe(200);
    await portal.deny(ADA, 'notes.edit');
    onTestFinished(() => portal.grant(ADA, 'notes.edit'));
    const answer = locationOf(await goOn(visitor, page)).searchParams;
    expect([answer.get('error'), answer.get('code')]).toEqual(['access_denied', null]);
  });
});

// @shows AS-8.18
test('without challenges a second authorization has only the requested scopes', async () => {
  const usual = await startPortal();
  try {
    const registered = await registerClient(usual);
    await obtainTokens(usual, registered, ADA, { scope: 'notes:read' });
    const second = await obtainTokens(usual, registered, ADA, { scope: 'notes:write' });
    expect(second.scope).toBe('notes:write');
  } finally {
    await usual.close();
  }
});

// @shows AS-8.18
test('access from an organization does not count as allowed by the person', async () => {
  const idp = await startIdentityProvider();
  onTestFinished(() => idp.close());
  const given = await startPortal({
    config: (url) => ({
      oauth_server: { ...idp.config.oauth_server, challenge: true, audience: `${url}/api` },
    }),
  });
  onTestFinished(() => given.close());
  const registered = await registerClient(given, {
    scopes: ['notes:read', 'notes:write'],
    grants: ['authorization_code', 'refresh_token', JWT_BEARER],
  });
  await link(given, ADA);
  const assertion = assertionFor(given, registered, idp.key, { scope: 'notes:write' });
  expect((await present(given, registered, assertion)).status).toBe(200);
  const allowed = await obtainTokens(given, registered, ADA, { scope: 'notes:read' });
  expect(allowed.scope).toBe('notes:read');
});
