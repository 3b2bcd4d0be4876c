import { listen, startApplication } from '@portico/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLossyStore, type LossyStore } from './support/lossy-store.ts';
import { openStore, type OpenedStore } from './support/opened-store.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  errorOf,
  introspect,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * A use whose commit has an unknown result (decision 9), on a server that responds to a used
 * refresh token again (decision 37).
 */
const WINDOW = 60;
const clock = createClock();
let opened: OpenedStore;
let store: LossyStore;
let portal: RunningPortal;
/** Another server on the same database, which stays reachable. */
let other: RunningPortal;
let client: TestClient;
let tokens: Tokens;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  opened = await openStore();
  store = createLossyStore(opened.inner);
  const config = { oauth_server: { refresh_retry_seconds: WINDOW } };
  portal = await startPortal({ database: store.database, clock: clock.now, config });
  other = await startOther();
  client = await registerClient(portal);
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await portal.close();
  await opened.close();
});
beforeEach(async () => {
  store.loses = null;
  store.isAway = false;
  tokens = await obtainTokens(portal, client, ADA);
});

async function startOther(): Promise<RunningPortal> {
  const port = await freePort();
  const env = { ...portal.env, PORT: String(port), PUBLIC_URL: portal.url };
  const database = {
    ...store.database,
    ...opened.inner,
    close: async () => {},
    open: () => database,
  };
  const application = await startApplication({ ...portal.definition, database }, { env });
  const running = await listen(application, { port, hostname: '127.0.0.1' });
  closing.push(async () => {
    await running.close();
    await application.close();
  });
  return { ...portal, application, url: `http://localhost:${port}` };
}

const use = (at = portal, of = tokens, changes: Readonly<Record<string, string>> = {}) =>
  refresh(at, client, of.refresh_token, changes);

async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

const secretsOf = ({ access_token: access, refresh_token: token }: Tokens) => [access, token];

/** Refreshes, and loses the store. */
async function lose(when: NonNullable<LossyStore['loses']>): Promise<void> {
  store.loses = when;
  const response = await use();
  expect([response.status, await errorOf(response)]).toEqual([503, 'temporarily_unavailable']);
}

async function expectGoingOn(answer: Tokens): Promise<void> {
  expect(await introspect(portal, answer.access_token)).toMatchObject({ active: true });
  const next = await tokensOf(await use(other, answer));
  expect((await use(portal, tokens)).status).toBe(400);
  expect(await introspect(portal, next.access_token)).toEqual({ active: false });
}

describe('a use of a refresh token that got 503', () => {
  // @shows AS-5.18, AS-18.24
  test('and took effect gets the same response to each retry, from any process', async () => {
    await lose('after it took effect');
    expect((await use()).status).toBe(503);
    store.isAway = false;
    const answer = await tokensOf(await use());
    for (const at of [portal, other, portal])
      expect(secretsOf(await tokensOf(await use(at)))).toEqual(secretsOf(answer));
    await expectGoingOn(answer);
  });

  // @shows AS-5.18, AS-18.9
  test('and took effect gets on each retry the response that a different process gave first', async () => {
    await lose('after it took effect');
    const answer = await tokensOf(await use(other));
    store.isAway = false;
    for (const at of [portal, portal, other])
      expect(secretsOf(await tokensOf(await use(at)))).toEqual(secretsOf(answer));
    await expectGoingOn(answer);
  });

  // @shows AS-5.18, AS-18.9
  test('and did not take effect gets the response of a first use', async () => {
    await lose('before it took effect');
    const answer = await tokensOf(await use(other));
    store.isAway = false;
    expect(secretsOf(await tokensOf(await use()))).toEqual(secretsOf(answer));
    await expectGoingOn(answer);
  });

  // @shows AS-5.18, AS-18.24
  test('and took effect gets one more response after the window, only from the process that saw it', async () => {
    await lose('after it took effect');
    store.isAway = false;
    clock.advance(WINDOW);
    const answer = await tokensOf(await use());
    expect(await introspect(portal, answer.access_token)).toMatchObject({ active: true });
    expect((await use()).status).toBe(400);
    expect(await introspect(portal, answer.access_token)).toEqual({ active: false });
  });

  // @shows AS-5.18, AS-18.24
  test.each([
    ['by a different process', () => use(other)],
    [
      'by the same process with the scope parameter',
      () => use(portal, tokens, { scope: tokens.scope }),
    ],
  ])('and is repeated %s is a replay after its successor was used', async (_, useElsewhere) => {
    await lose('after it took effect');
    store.isAway = false;
    const answer = await tokensOf(await useElsewhere());
    const next = await tokensOf(await use(other, answer));
    const replay = await use();
    expect([replay.status, await errorOf(replay)]).toEqual([400, 'invalid_grant']);
    for (const each of [answer, next])
      expect(await introspect(portal, each.access_token)).toEqual({ active: false });
    expect((await use(portal, next)).status).toBe(400);
  });
});

// @shows AS-5.18, AS-6.16
test('a used token that is presented during a store outage gets 503, and revokes nothing', async () => {
  const answer = await tokensOf(await use());
  store.isAway = true;
  expect((await use()).status).toBe(503);
  store.isAway = false;
  expect(secretsOf(await tokensOf(await use()))).toEqual(secretsOf(answer));
});
