// @engines sqlite: test/stored-access.test.ts tests the statements
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import { doAt, formDoing, PAGES, startAdministered, textOf } from './support/administration.ts';
import {
  ADA,
  GRACE,
  obtainTokens,
  registerClient,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** Lists on the administrator's pages that have more than one page, and pages without a row. */

const clock = createClock();
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;

beforeEach(async () => {
  ({ portal } = await startAdministered({
    clock: clock.now,
    config: { oauth_server: { audit: { keep: true } } },
  }));
  client = await registerClient(portal, { name: 'Notebook' });
  ada = await portal.signedIn(ADA);
});
afterEach(() => portal.close());

/** Grace allows an application these scopes. */
async function allowed(to: TestClient, scope: string): Promise<void> {
  await obtainTokens(portal, to, GRACE, { scope });
  // The next authorization is newer.
  clock.advance(1);
}

/**
 * Copies the newest row of a table this often, and replaces these values. A value is an SQL
 * expression, in which `i` counts the copies from 0.
 */
async function copy(
  table: 'oauth_clients' | 'oauth_families' | 'oauth_audit',
  count: number,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const { database } = portal.application;
  const { rows } = await database.execute(`SELECT * FROM ${table} LIMIT 1`);
  const names = Object.keys(rows[0] ?? {});
  const key = table === 'oauth_clients' ? 'client_id' : 'id';
  const newest = `SELECT * FROM ${table} ORDER BY ${key} DESC LIMIT 1`;
  await database.execute(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})
    INSERT INTO ${table} (${names.join(', ')})
    SELECT ${names.map((name) => values[name] ?? name).join(', ')} FROM n, (${newest})`);
}
/** The id of the copy `i`, with the time of the original. */
const NEXT_ID = "substr(id, 1, 12) || printf('%020x', i)";

/** The text of each row of each page, beginning with this one. */
async function pages(path: string): Promise<readonly (readonly string[])[]> {
  const found: string[][] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page = await ada.get(next);
    expect(page.status).toBe(200);
    const html: string = await page.text();
    const rows = html.split(/<li class="held">|<h2 class="head">(?=\w+ <span)/).slice(1);
    found.push(
      await Promise.all(rows.map((row) => textOf(new Response(row.split('</li>')[0] ?? '')))),
    );
    next = /<a class="button" href="([^"]*)">Show older ones</
      .exec(html)?.[1]
      ?.replaceAll('&amp;', '&');
  }
  return found;
}
const counted = async (path: string) => (await pages(path)).map((rows) => rows.length);

async function pageOfGrace(more: Readonly<Record<string, string>> = {}): Promise<string> {
  const [{ person } = {}] = (await portal.server.access.list({}, { limit: 1 })).items;
  const { provider = '', id = '' } = person ?? {};
  return `${PAGES}/person?${new URLSearchParams({ provider, id, ...more })}`;
}

describe('the page of a person', () => {
  // @shows AS-33.12
  test('has 50 applications per page, each once', async () => {
    await allowed(client, 'openid');
    await copy('oauth_clients', 51, { client_id: "printf('client-%02d', i)" });
    await copy('oauth_families', 51, { id: NEXT_ID, client_id: "printf('client-%02d', i)" });
    const shown = await pages(await pageOfGrace());
    expect(shown.map((rows) => rows.length)).toEqual([50, 2]);
    expect(new Set(shown.flat()).size).toBe(52);
  });

  // @shows AS-33.12
  test('leads past pages on which no further application begins', async () => {
    const older = await registerClient(portal, { name: 'An older one' });
    await allowed(older, 'openid');
    await allowed(client, 'openid');
    await copy('oauth_families', 2500, { id: NEXT_ID });
    const shown = await pages(await pageOfGrace());
    expect(shown.map((rows) => rows.length)).toEqual([1, 0, 1]);
    expect(shown[0]?.[0]).toContain('Notebook 1000 and more authorizations');
    expect(shown[2]?.[0]).toContain('An older one');
  });

  // @shows AS-33.12
  test('has 50 authorizations of one application per page, and leads back to all', async () => {
    for (let others = 0; others < 2; others += 1)
      await allowed(await registerClient(portal), 'openid');
    await allowed(client, 'openid');
    await copy('oauth_families', 50, { id: NEXT_ID });
    const one = await pageOfGrace({ client: client.id });
    expect(await counted(one)).toEqual([50, 1]);
    const shown = (await pages(one)).flat();
    expect(new Set(shown).size).toBe(51);
    const html = await (await ada.get(one)).text();
    const [, back = ''] = /href="([^"]*)">All access that this person allowed</.exec(html) ?? [];
    expect(await counted(back.replaceAll('&amp;', '&'))).toEqual([3]);
  });

  test('says so if the person has no active access', async () => {
    await allowed(client, 'openid');
    const [all, one] = [await pageOfGrace(), await pageOfGrace({ client: client.id })];
    await doAt(ada, all, 'revoke');
    expect(await textOf(await ada.get(all))).toContain('This person has no active access.');
    expect(await textOf(await ada.get(one))).toContain('No active access.');
  });
});

describe('the list of who holds access', () => {
  const list = `${PAGES}/access`;

  test('stays on its page after access was revoked there', async () => {
    await allowed(client, 'openid');
    await copy('oauth_families', 51, { id: NEXT_ID, user_id: "printf('p-%02d', i)" });
    const html = await (await ada.get(`${list}?client=${client.id}`)).text();
    const [, next = ''] = /href="([^"]*after=[^"]*)"/.exec(html) ?? [];
    const second = next.replaceAll('&amp;', '&');
    const { action } = await formDoing(await ada.get(second), 'revoke');
    expect(new URL(action, portal.url).search).toBe(new URL(second, portal.url).search);
    const done = locationOf(await doAt(ada, second, 'revoke'));
    expect(done.searchParams.get('after')).toBe(
      new URL(second, portal.url).searchParams.get('after'),
    );
    expect(await textOf(await ada.get(done.href))).toContain(
      'The access and its tokens are revoked',
    );
  });

  // @shows AS-33.12
  test('says that there are more rows to search if it has found none yet', async () => {
    await allowed(client, 'notes:read');
    await allowed(client, 'openid');
    await copy('oauth_families', 5000, { id: NEXT_ID, user_id: "printf('p-%d', i)" });
    const first = `${list}?scope=notes:read`;
    expect(await counted(first)).toEqual([0, 1]);
    expect(await textOf(await ada.get(first))).toContain(
      'No matches so far. There are more rows to search.',
    );
    expect(await textOf(await ada.get(`${list}?scope=email`))).toContain('No matches so far.');
    expect(await textOf(await ada.get(`${list}?client=${'0'.repeat(32)}`))).toContain(
      'No active authorization matches.',
    );
  });
});

describe('the page of the stored audit', () => {
  // @shows AS-33.11
  test('says that there are more rows to search if it has found none yet', async () => {
    await portal.server.clients.rotateSecret(client.id);
    clock.advance(1);
    const other = await registerClient(portal);
    await portal.server.clients.update(client.id, { name: 'Another name' });
    await copy('oauth_audit', 2500, { id: NEXT_ID });
    clock.advance(1);
    await portal.server.clients.rotateSecret(other.id);
    await copy('oauth_audit', 2500, { id: NEXT_ID });
    const first = `${PAGES}/audit?client=${client.id}&type=secret_rotated`;
    expect(await counted(first)).toEqual([0, 1]);
    expect(await textOf(await ada.get(first))).toContain(
      'No matches so far. There are more rows to search.',
    );
  });
});
