import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { listen, startApplication } from '@portico/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLossyStore, type LossyStore } from './support/lossy-store.ts';
import { openStore, type OpenedStore } from './support/opened-store.ts';
import { freePort } from './support/free-port.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  errorOf,
  exchangeCode,
  introspect,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { formOf, locationOf } from './support/visitor.ts';

/** A store that stays away longer than any check whether a use took effect (decision 9). */
let opened: OpenedStore;
let store: LossyStore;
let portal: RunningPortal;
let client: TestClient;
const closing: (() => Promise<void>)[] = [];
let tokens: Tokens;
const clock = createClock();

beforeAll(async () => {
  opened = await openStore();
  store = createLossyStore(opened.inner);
  const config = { oauth_server: { back_channel_logout: true } };
  portal = await startPortal({ database: store.database, clock: clock.now, config });
  client = await registerClient(portal);
});
afterAll(async () => {
  for (const close of closing) await close();
  await portal.close();
  await opened.close();
});
beforeEach(async () => {
  store.loses = null;
  store.isAway = false;
  store.losesAccounts = false;
  store.whenLost = () => {};
  await portal.restore(ADA);
  await setScopes('openid profile email notes:read notes:write');
  await setGrants('authorization_code refresh_token');
  tokens = await obtainTokens(portal, client, ADA);
});

/** Another process with the same store. */
async function startBeside(): Promise<RunningPortal> {
  const port = await freePort();
  const env = { ...portal.env, PORT: String(port), PUBLIC_URL: portal.url };
  const application = await startApplication(portal.definition, { env });
  const running = await listen(application, { port, hostname: '127.0.0.1' });
  closing.push(async () => {
    await running.close();
    await application.close();
  });
  return { ...portal, application, url: `http://localhost:${port}` };
}

/** Refreshes, and loses the store. */
async function loseRefresh(when: NonNullable<LossyStore['loses']>): Promise<void> {
  store.loses = when;
  await expectAway(await refresh(portal, client, tokens.refresh_token));
}

/** The registration of the client, changed behind the server. */
const setScopes = (scope: string) =>
  opened.inner.execute('UPDATE oauth_clients SET scope = ? WHERE client_id = ?', [
    scope,
    client.id,
  ]);
const setGrants = (grants: string) =>
  opened.inner.execute('UPDATE oauth_clients SET grants = ? WHERE client_id = ?', [
    grants,
    client.id,
  ]);

async function expectAway(response: Response): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([503, 'temporarily_unavailable']);
  expect(response.headers.has('retry-after')).toBe(true);
}

async function expectRefused(response: Response): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
}

const tokensOf = async (response: Response): Promise<Tokens> => {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
};

const isActive = async ({ access_token: token }: Tokens) =>
  (await introspect(portal, token))['active'];

describe('a use of a token or code that took effect while the store was lost', () => {
  // @shows AS-18.24
  test('is 503 during the outage, and the same request gets the response afterwards', async () => {
    await loseRefresh('after it took effect');
    await expectAway(await refresh(portal, client, tokens.refresh_token));
    store.isAway = false;
    clock.advance(60);
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(true);
    // The remaining lifetime.
    expect(answer.expires_in).toBe(tokens.expires_in - 60);
    await tokensOf(await refresh(portal, client, answer.refresh_token));
  });

  // @shows AS-18.24
  test('returns the remaining lifetime of the token, after any number of store queries', async () => {
    store.whenLost = () => clock.advance(41);
    await loseRefresh('after it took effect');
    store.isAway = false;
    tokens = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(tokens.expires_in).toBe(3600 - 41);
    // And when the answer finally arrived.
    store.whenLost = () => {
      clock.advance(29);
      store.isAway = false;
    };
    store.loses = 'after it took effect';
    tokens = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(tokens.expires_in).toBe(3600 - 29);
  });

  // @shows AS-18.24
  test('never returns more than the remaining lifetime, also after the clock was set back', async () => {
    store.whenLost = () => clock.advance(-10);
    await loseRefresh('after it took effect');
    store.isAway = false;
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    clock.advance(10);
    expect(answer.expires_in).toBe(tokens.expires_in);
  });

  // @shows AS-18.24
  test('is answered without a refresh token by a new process if the client may no longer refresh', async () => {
    const other = await startBeside();
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    store.loses = 'after it took effect';
    await expectAway(await exchangeCode(other, client, code));
    store.isAway = false;
    await setGrants('authorization_code');
    const answer = await tokensOf(await exchangeCode(other, client, code));
    expect(await isActive(answer)).toBe(true);
    expect(answer).not.toHaveProperty('refresh_token');
    await setGrants('authorization_code refresh_token');
    store.loses = 'after it took effect';
    await expectAway(await refresh(other, client, tokens.refresh_token));
    store.isAway = false;
    expect((await tokensOf(await refresh(other, client, tokens.refresh_token))).scope).toBe(
      tokens.scope,
    );
  });

  // @shows AS-18.24
  test('is answered for a code exchange too', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    store.loses = 'after it took effect';
    await expectAway(await exchangeCode(portal, client, code));
    store.isAway = false;
    expect(await isActive(await tokensOf(await exchangeCode(portal, client, code)))).toBe(true);
    await expectRefused(await exchangeCode(portal, client, code));
  });

  // @shows AS-18.24
  test('is answered once: the next request is a replay, which revokes those tokens', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(false);
    await expectRefused(await refresh(portal, client, answer.refresh_token));
  });

  // @shows AS-18.24
  test('is answered for one of two simultaneous requests', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    const send = () => refresh(portal, client, tokens.refresh_token);
    const statuses = (await Promise.all([send(), send()])).map(({ status }) => status);
    // The other finds the first one still asking, or the answer gone.
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  // @shows AS-18.24
  test('is a replay if any other request sends the token, and then the same request is one too', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    await expectRefused(await refresh(portal, client, tokens.refresh_token, { scope: 'openid' }));
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(tokens)).toBe(false);
  });

  // @shows AS-18.24
  test('is not answered for a different client', async () => {
    const other = await registerClient(portal);
    await loseRefresh('after it took effect');
    store.isAway = false;
    await expectRefused(await refresh(portal, other, tokens.refresh_token));
    const wrong = await refresh(portal, { ...client, secret: 'wrong' }, tokens.refresh_token);
    expect([wrong.status, await errorOf(wrong)]).toEqual([401, 'invalid_client']);
    await tokensOf(await refresh(portal, client, tokens.refresh_token));
  });

  // @shows AS-1.8, AS-18.24
  test('is refused while the account is suspended, and answered after the account is restored', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    await portal.suspend(ADA);
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    await portal.restore(ADA);
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(true);
  });

  // @shows AS-1.8, AS-5.17, AS-18.24
  test('is refused permanently for a code if the account is suspended', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    store.loses = 'after it took effect';
    await expectAway(await exchangeCode(portal, client, code));
    store.isAway = false;
    await portal.suspend(ADA);
    await expectRefused(await exchangeCode(portal, client, code));
    await portal.restore(ADA);
    await expectRefused(await exchangeCode(portal, client, code));
  });

  // @shows AS-18.24
  test('is refused for a client that was revoked', async () => {
    const other = await registerClient(portal);
    tokens = await obtainTokens(portal, other, ADA);
    store.loses = 'after it took effect';
    await expectAway(await refresh(portal, other, tokens.refresh_token));
    store.isAway = false;
    await portal.server.clients.revoke(other.id);
    const response = await refresh(portal, other, tokens.refresh_token);
    expect([response.status, await errorOf(response)]).toEqual([401, 'invalid_client']);
  });

  // @shows AS-18.24
  test('is answered with a new ID token, without claims that are no longer released', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    clock.advance(60);
    await setScopes('openid notes:read');
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(answer.scope).toBe('openid notes:read');
    expect(decodeJwt(tokens.id_token)['email']).toBe(ADA);
    const claims = decodeJwt(answer.id_token);
    expect(claims['email']).toBeUndefined();
    expect(claims.iat).toBe(Math.floor(clock.now() / 1000));
    const atHash = createHash('sha256').update(answer.access_token).digest().subarray(0, 16);
    expect(claims['at_hash']).toBe(atHash.toString('base64url'));
  });

  // @shows AS-18.24, AS-53.1
  test.each(['code', 'refresh token'])(
    'of a %s is answered with an ID token without the sid of a session that has ended',
    async (used) => {
      const ada = await portal.signedIn(ADA);
      const code = await obtainCode(portal, client, ada);
      const { refresh_token: token } =
        used === 'code' ? tokens : await tokensOf(await exchangeCode(portal, client, code));
      const send = () =>
        used === 'code' ? exchangeCode(portal, client, code) : refresh(portal, client, token);
      store.loses = 'after it took effect';
      await expectAway(await send());
      store.isAway = false;
      const { fields } = formOf(await (await ada.get('/')).text());
      await ada.post('/logout', fields);
      const { id_token: idToken } = await tokensOf(await send());
      expect(decodeJwt(tokens.id_token)).toHaveProperty('sid');
      expect(decodeJwt(idToken)).not.toHaveProperty('sid');
    },
  );

  // @shows AS-18.24
  test('is refused if no scope is granted any more, or the client lost the grant type', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    await setScopes('none');
    const unscoped = await refresh(portal, client, tokens.refresh_token);
    expect([unscoped.status, await errorOf(unscoped)]).toEqual([400, 'invalid_scope']);
    await setScopes('openid');
    await setGrants('authorization_code');
    const ungranted = await refresh(portal, client, tokens.refresh_token);
    expect([ungranted.status, await errorOf(ungranted)]).toEqual([400, 'unauthorized_client']);
  });

  // @shows AS-18.24
  test('is refused if it requested a scope that is no longer registered', async () => {
    store.loses = 'after it took effect';
    const send = () =>
      refresh(portal, client, tokens.refresh_token, { scope: 'openid notes:read' });
    await expectAway(await send());
    store.isAway = false;
    await setScopes('openid');
    const response = await send();
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_scope']);
  });

  // @shows AS-18.24
  test('is answered after the account can be loaded, if the store was lost in between', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    store.losesAccounts = true;
    await expectAway(await refresh(portal, client, tokens.refresh_token));
    store.losesAccounts = false;
    await tokensOf(await refresh(portal, client, tokens.refresh_token));
  });

  // @shows AS-18.24
  test('is a replay after five minutes', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    clock.advance(300);
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(tokens)).toBe(false);
  });
});

// @shows AS-18.24
test('a second press of Allow gets a valid code if the store can be lost twice', async () => {
  const visitor = await portal.signedIn(ADA);
  const page = await visitor.visit(authorizationUrl(portal, client));
  const allow = () => visitor.submit(page, { decision: 'allow' });
  await allow();
  store.loses = 'after it took effect';
  store.whenLost = () => {
    store.isAway = false;
    store.loses = 'after it took effect';
  };
  const code = locationOf(await allow()).searchParams.get('code') ?? '';
  store.loses = null;
  expect(await isActive(await tokensOf(await exchangeCode(portal, client, code)))).toBe(true);
});

describe('a use of a token or code that did not take effect while the store was lost', () => {
  // @shows AS-18.24
  test('is 503 during the outage, and then a normal use', async () => {
    await loseRefresh('before it took effect');
    await expectAway(await refresh(portal, client, tokens.refresh_token));
    store.isAway = false;
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(true);
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(false);
  });
});
