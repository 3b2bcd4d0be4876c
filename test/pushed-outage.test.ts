import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createLosingStore,
  openStore,
  type LosingStore,
  type OpenedStore,
} from './support/opened-store.ts';
import {
  ADA,
  errorOf,
  exchangeCode,
  GRACE,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { push, pushedNow } from './support/pushing.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** The store is lost while a pushed request is stored, shown to a person, or removed. */
let opened: OpenedStore;
let store: LosingStore;
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
/** Runs before a request that is shown to a person is stored. */
let meanwhile = async () => {};

beforeAll(async () => {
  opened = await openStore();
  const { inner } = opened;
  const execute: typeof inner.execute = async (sql, parameters, committed) => {
    if (PUT.test(sql)) await meanwhile();
    return inner.execute(sql, parameters, committed);
  };
  store = createLosingStore({ ...inner, execute });
  portal = await startPortal({
    database: store.database,
    config: { oauth_server: { pushed_authorization_requests: 'require' } },
  });
  client = await registerClient(portal);
  ada = await portal.signedIn(ADA);
});
beforeEach(() => {
  store.loses = null;
});
afterAll(async () => {
  await portal.close();
  await opened.close();
});

const KEEP = /INSERT INTO oauth_waiting_requests/;
const FIND = /SELECT parameters FROM oauth_waiting_requests/;
const END = /DELETE FROM oauth_waiting_requests WHERE secret_hash = /;
const PUT = /INSERT INTO oauth_consent_requests/;
const VOID = /UPDATE oauth_consent_requests SET outcome = 'void'/;

async function expectAllowed(page: Response): Promise<void> {
  expect(page.status).toBe(200);
  const code =
    locationOf(await ada.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
  expect((await exchangeCode(portal, client, code)).status).toBe(200);
}

// @shows AS-6.16, AS-25.2
test.each([true, false])(
  'a store failure while a request is pushed (it took effect: %s): 503, and a retry succeeds',
  async (afterwards) => {
    store.loses = { statement: KEEP, afterwards };
    const response = await push(portal, client);
    expect([response.status, await errorOf(response)]).toEqual([503, 'temporarily_unavailable']);
    expect(response.headers.get('retry-after')).not.toBeNull();
    expect(response.headers.get('content-type')).toBe('application/json');
    await expectAllowed(await ada.visit(await pushedNow(portal, client)));
  },
);

// @shows AS-6.16, AS-25.6
test.each([
  ['looked up', FIND, false],
  ['shown, which took effect', PUT, true],
  ['shown, which did not take effect', PUT, false],
  ['removed, which took effect', END, true],
  ['removed, which did not take effect', END, false],
])(
  'a store failure while a pushed request is %s: the page or 503, and the link works once',
  async (_, statement, afterwards) => {
    const url = await pushedNow(portal, client);
    store.loses = { statement, afterwards };
    const lost = await ada.visit(url);
    expect([200, 503]).toContain(lost.status);
    expect(store.loses).toBeNull();
    await expectAllowed(await ada.visit(url));
    expect((await ada.visit(url)).status).toBe(400);
    expect((await (await portal.signedIn(ADA)).visit(url)).status).toBe(400);
  },
);

// @shows AS-25.6
test('a pushed request that is answered with an error is closed in one step', async () => {
  const url = await pushedNow(portal, client, { scope: 'notes:write' });
  await portal.deny(GRACE, 'notes:write');
  const grace = await portal.signedIn(GRACE);
  store.loses = { statement: VOID, afterwards: false };
  const refused = await grace.get(url);
  store.loses = null;
  expect(locationOf(refused).searchParams.get('error')).toBe('access_denied');
  const { rows } = await opened.inner.execute(
    "SELECT outcome FROM oauth_consent_requests WHERE asked_scope = ''",
  );
  expect(rows).toEqual([{ outcome: 'void' }]);
});

// @shows AS-25.6
test('a pushed request that another browser shows at the same time is not answered with an error too', async () => {
  const url = await pushedNow(portal, client, { scope: 'notes:write' });
  await portal.deny(GRACE, 'notes:write');
  const grace = await portal.signedIn(GRACE);
  const shown: Response[] = [];
  meanwhile = async () => {
    meanwhile = async () => {};
    shown.push(await ada.visit(url));
  };
  const refused = await grace.get(url);
  expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
  for (const page of shown) await expectAllowed(page);
  expect(shown).toHaveLength(1);
});
