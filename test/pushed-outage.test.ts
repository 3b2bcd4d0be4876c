import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, type BorrowedDatabase, type OpenedDatabase } from 'portico/host';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import {
  ADA,
  errorOf,
  exchangeCode,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { push, pushedNow } from './support/pushing.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** A store that is lost while a pushed request is kept, put to somebody, or removed. */
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let inner: OpenedDatabase;
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
/** The statement that is lost next, and whether it took effect. */
let loses: { readonly statement: RegExp; readonly afterwards: boolean } | null = null;

function losing(database: OpenedDatabase): BorrowedDatabase {
  const lossy: BorrowedDatabase = {
    ...database,
    async execute(sql, parameters, committed) {
      if (loses === null || !loses.statement.test(sql)) return database.execute(sql, parameters, committed);
      const { afterwards } = loses;
      loses = null;
      if (afterwards) await database.execute(sql, parameters);
      throw Object.assign(new Error('The store is away'), { code: 'ECONNREFUSED' });
    },
    close: async () => {},
    open: () => lossy,
  };
  return lossy;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-pushed-'));
  created = await createDatabase(folder);
  inner = openDatabase(created.url, { directory: folder });
  portal = await startPortal({
    database: losing(inner),
    config: { oauth_server: { pushed_authorization_requests: 'require' } },
  });
  client = await registerClient(portal);
  ada = await portal.signedIn(ADA);
});
beforeEach(() => {
  loses = null;
});
afterAll(async () => {
  await portal.close();
  await inner.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

const KEEP = /INSERT INTO oauth_waiting_requests/;
const FIND = /SELECT parameters FROM oauth_waiting_requests/;
const END = /DELETE FROM oauth_waiting_requests WHERE secret_hash = /;
const PUT = /INSERT INTO oauth_consent_requests/;

async function expectAllowed(page: Response): Promise<void> {
  expect(page.status).toBe(200);
  const code = locationOf(await ada.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
  expect((await exchangeCode(portal, client, code)).status).toBe(200);
}

// @shows AS-6.16, AS-25.2
test.each([true, false])(
  'lost while it is kept (took effect: %s): 503, and the client pushes again',
  async (afterwards) => {
    loses = { statement: KEEP, afterwards };
    const response = await push(portal, client);
    expect([response.status, await errorOf(response)]).toEqual([503, 'temporarily_unavailable']);
    expect(response.headers.get('retry-after')).not.toBeNull();
    expect(response.headers.get('content-type')).toBe('application/json');
    await expectAllowed(await ada.visit(await pushedNow(portal, client)));
  },
);

// @shows AS-6.16, AS-25.6
test.each([
  ['found', FIND, false],
  ['put to the person, which took effect', PUT, true],
  ['put to the person, which did not', PUT, false],
  ['removed, which took effect', END, true],
  ['removed, which did not', END, false],
])(
  'lost while it is %s: a page says 503 or shows it, and the same link works once',
  async (_, statement, afterwards) => {
    const url = await pushedNow(portal, client);
    loses = { statement, afterwards };
    const lost = await ada.visit(url);
    expect([200, 503]).toContain(lost.status);
    expect(loses).toBeNull();
    await expectAllowed(await ada.visit(url));
    expect((await ada.visit(url)).status).toBe(400);
    expect((await (await portal.signedIn(ADA)).visit(url)).status).toBe(400);
  },
);
