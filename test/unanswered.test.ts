import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, type OpenedDatabase } from 'portico/host';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { createLossyStore, type LossyStore } from './support/lossy-store.ts';
import {
  ADA,
  createClock,
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

/** A store that stays away for longer than anybody asks it whether a use took effect (decision 9). */
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let inner: OpenedDatabase;
let store: LossyStore;
let portal: RunningPortal;
let client: TestClient;
let tokens: Tokens;
const clock = createClock();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-unanswered-'));
  created = await createDatabase(folder);
  inner = openDatabase(created.url, { directory: folder });
  store = createLossyStore(inner);
  portal = await startPortal({ database: store.database, clock: clock.now });
  client = await registerClient(portal);
});
afterAll(async () => {
  await portal.close();
  await inner.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  tokens = await obtainTokens(portal, client, ADA);
});

/** Refreshes, and loses the store. */
async function loseRefresh(when: NonNullable<LossyStore['loses']>): Promise<void> {
  store.loses = when;
  await expectAway(await refresh(portal, client, tokens.refresh_token));
}

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

const isActive = async ({ access_token: token }: Tokens) => (await introspect(portal, token))['active'];

describe('a use that took effect while the store was lost', () => {
  // @shows AS-18.24
  test('is 503 while the store is away, and answered to the same request once it is back', async () => {
    await loseRefresh('after it took effect');
    await expectAway(await refresh(portal, client, tokens.refresh_token));
    store.isAway = false;
    clock.advance(60);
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(true);
    // As long as they have left.
    expect(answer.expires_in).toBe(tokens.expires_in - 60);
    await tokensOf(await refresh(portal, client, answer.refresh_token));
  });

  // @shows AS-18.24
  test('is answered when it was the exchange of a code', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    store.loses = 'after it took effect';
    await expectAway(await exchangeCode(portal, client, code));
    store.isAway = false;
    expect(await isActive(await tokensOf(await exchangeCode(portal, client, code)))).toBe(true);
    await expectRefused(await exchangeCode(portal, client, code));
  });

  // @shows AS-18.24
  test('is answered once: the next is a replay, which ends what the answer gave', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(false);
    await expectRefused(await refresh(portal, client, answer.refresh_token));
  });

  // @shows AS-18.24
  test('is answered to one of two that come at once', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    const send = () => refresh(portal, client, tokens.refresh_token);
    const statuses = (await Promise.all([send(), send()])).map(({ status }) => status);
    // The other finds the first one asking, or the answer gone.
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  // @shows AS-18.24
  test('is a replay to any other request with the token, and then to the same one too', async () => {
    await loseRefresh('after it took effect');
    store.isAway = false;
    await expectRefused(await refresh(portal, client, tokens.refresh_token, { scope: 'openid' }));
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(tokens)).toBe(false);
  });

  // @shows AS-18.24
  test('is not answered to another client', async () => {
    const other = await registerClient(portal);
    await loseRefresh('after it took effect');
    store.isAway = false;
    await expectRefused(await refresh(portal, other, tokens.refresh_token));
    const wrong = await refresh(portal, { ...client, secret: 'wrong' }, tokens.refresh_token);
    expect([wrong.status, await errorOf(wrong)]).toEqual([401, 'invalid_client']);
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

describe('a use that did not take effect while the store was lost', () => {
  // @shows AS-18.24
  test('is 503 while the store is away, and then a use like any other', async () => {
    await loseRefresh('before it took effect');
    await expectAway(await refresh(portal, client, tokens.refresh_token));
    store.isAway = false;
    const answer = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(true);
    await expectRefused(await refresh(portal, client, tokens.refresh_token));
    expect(await isActive(answer)).toBe(false);
  });
});
