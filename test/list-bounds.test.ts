// @engines sqlite, long: it tests full pages and batches; stored-access.test.ts runs the statements on every engine
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** One more than the largest page, and more than two batches. */
const MANY = 1001;

const clock = createClock();
let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    config: { oauth_server: { audit: { keep: true } } },
  });
  // No fsync: a crash does not matter here.
  await portal.application.database.execute('PRAGMA synchronous = OFF');
  client = await registerClient(portal);
});
afterAll(() => portal.close());

/** Copies the one row until there are this many rows. `ids` returns the ids for a number. */
async function copy(
  table: string,
  column: string,
  of: string,
  ids: string,
  changes: Readonly<Record<string, string>> = {},
  count = MANY - 1,
): Promise<void> {
  const { database } = portal.application;
  const { rows } = await database.execute(`SELECT * FROM ${table} WHERE ${column} = ?`, [of]);
  expect(rows).toHaveLength(1);
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== column);
  const values = names.map((name) => (changes[name] === undefined ? name : `'${changes[name]}'`));
  await database.execute(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO ${table} (${column}, ${names.join(', ')})
    SELECT ${ids}, ${values.join(', ')} FROM n, ${table} WHERE ${column} = ?`,
    [of],
  );
}

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly next: string | null;
}

/** Requests all pages and returns their sizes. Checks that each item is on exactly one page. */
async function sizes(
  list: (page: { limit?: number; after?: string }) => Promise<Page>,
  limit?: number,
) {
  const found: string[] = [];
  const pages: number[] = [];
  for (let after: string | null = ''; after !== null;) {
    const { items, next }: Page = await list({
      ...(limit === undefined ? {} : { limit }),
      ...(after === '' ? {} : { after }),
    });
    pages.push(items.length);
    found.push(...items.map(({ id }) => id));
    after = next;
  }
  expect(new Set(found).size).toBe(found.length);
  return pages;
}

const refusesOtherLimits = async (list: (page: { limit: number }) => Promise<unknown>) => {
  for (const limit of [0, -1, 1.5, 1001, Number.NaN])
    await expect(list({ limit })).rejects.toThrow('1000');
};
const run = (...args: readonly string[]) =>
  porticoHere(args, { cwd: path.join(ROOT, 'examples', 'portal'), env: portal.env });
const HEX = "printf('%012x%020x', 1000, i)";

// @shows AS-30.8
test('a list of clients has at most a thousand per page, and has all clients without paging', async () => {
  const { clients } = portal.server;
  const list = (page: { limit?: number; after?: string }) => clients.page(page);
  expect(await sizes(list)).toEqual([1]);
  expect(await sizes(list, 1)).toEqual([1]);
  await copy('oauth_clients', 'client_id', client.id, "printf('copy-%05d', i)");
  expect(await sizes(list, 1000)).toEqual([1000, 1]);
  expect(await sizes(list, 500)).toEqual([500, 500, 1]);
  expect((await list({})).items).toHaveLength(50);
  expect(await clients.list()).toHaveLength(MANY);
  const all = await run('oauth:client:list', '--json');
  expect(JSON.parse(all.stdout)).toHaveLength(MANY);
  const page = await run('oauth:client:list', '--json', '--limit', '1000');
  expect((JSON.parse(page.stdout) as Page).items).toHaveLength(1000);
  await portal.application.database.execute(
    "DELETE FROM oauth_clients WHERE client_id = 'copy-00001'",
  );
  expect(await sizes(list, 1000)).toEqual([1000]);
  expect(await sizes(list, 999)).toEqual([999, 1]);
  await refusesOtherLimits(list);
});

// @shows AS-31.2, AS-31.6
test('all authorizations and requests of a person are listed and ended, across pages and batches', async () => {
  const { access } = portal.server;
  await obtainTokens(portal, client, ADA);
  const [held] = (await access.list()).items;
  const { id = '', person = { provider: '', id: '' } } = held ?? {};
  const list = (page: { limit?: number; after?: string }) => access.list({ person }, page);
  expect(await sizes(list, 1)).toEqual([1]);
  await copy('oauth_families', 'id', id, HEX);
  expect(await sizes(list, 1000)).toEqual([1000, 1]);
  expect((await list({})).items).toHaveLength(50);
  await refusesOtherLimits(list);
  const { database } = portal.application;
  const { rows } = await database.execute<{ id_hash: string }>(
    'SELECT id_hash FROM oauth_consent_requests',
  );
  const [{ id_hash: waiting } = { id_hash: '' }] = rows;
  await database.execute('UPDATE oauth_consent_requests SET outcome = NULL');
  await copy('oauth_consent_requests', 'id_hash', waiting, "printf('copy-%05d', i)");
  await copy(
    'oauth_consent_requests',
    'id_hash',
    waiting,
    "printf('other-%05d', i)",
    { user_id: 'x' },
    2,
  );
  expect(await access.revokePerson(person)).toEqual({ authorizations: MANY, requests: MANY });
  expect((await list({})).items).toEqual([]);
  const left = await database.execute<{ user_id: string }>(
    'SELECT user_id FROM oauth_consent_requests WHERE outcome IS NULL',
  );
  expect(left.rows.map((row) => row.user_id)).toEqual(['x', 'x']);
});

// @shows AS-19.8, AS-19.9
test('all events and other data of a person are listed and removed, across pages and batches', async () => {
  const { access, audit } = portal.server;
  await obtainTokens(portal, client, ADA);
  const [held] = (await access.list()).items;
  const { id = '', person = { provider: '', id: '' } } = held ?? {};
  await access.revokeAuthorization(id);
  const list = (page: { limit?: number; after?: string }) =>
    audit.list({ type: 'family_revoked', person }, page);
  const about = { type: 'family_revoked', authorization: id } as const;
  const [event] = (await audit.list(about)).items;
  await copy('oauth_audit', 'id', event?.id ?? '', HEX);
  for (const shown of [
    (page: object) => audit.list({ type: 'family_revoked' }, page),
    list,
    (page: object) => audit.list({ person, authorization: id, type: 'family_revoked' }, page),
  ]) {
    const found = await sizes(shown, 1000);
    expect(found.reduce((sum, each) => sum + each, 0)).toBe(MANY);
    await refusesOtherLimits(shown);
  }
  expect((await list({})).items).toHaveLength(50);
  const { authorizations, events } = await access.erasePerson(person);
  expect([authorizations, events]).toEqual([MANY + 1, expect.any(Number)]);
  expect(events).toBeGreaterThanOrEqual(MANY);
  expect((await list({})).items).toEqual([]);
  for (const table of ['oauth_families', 'oauth_consent_requests', 'oauth_audit']) {
    const { rows } = await portal.application.database.execute(
      `SELECT 1 FROM ${table} WHERE user_provider = ? AND user_id = ?`,
      [person.provider, person.id],
    );
    expect([table, rows.length]).toEqual([table, 0]);
  }
});
