// @engines sqlite: it tests full pages; stored-access.test.ts runs the statements on every engine
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PAGES, startAdministered, textOf } from './support/administration.ts';
import { ADA, obtainTokens, registerClient, type RunningPortal } from './support/portal.ts';
import type { Visitor } from './support/visitor.ts';

/** The page of access with more than one page of rows. Each person and application has one row. */

let portal: RunningPortal;
let ada: Visitor;
/** The values that only the rows of this file have. */
let template: Readonly<Record<string, unknown>>;

beforeEach(async () => {
  ({ portal } = await startAdministered());
  const client = await registerClient(portal, { name: 'Notebook' });
  await obtainTokens(portal, client, ADA, { scope: 'openid' });
  ada = await portal.signedIn(ADA);
  const { database } = portal.application;
  const { rows } = await database.execute('SELECT * FROM oauth_families');
  template = rows[0] ?? {};
  await database.execute('DELETE FROM oauth_families');
});
afterEach(() => portal.close());

/** Authorizations of these people, the newest last. */
async function allowed(
  people: readonly { readonly id: string; readonly provider?: string }[],
): Promise<void> {
  const names = Object.keys(template);
  const created = Number(template['created_at']);
  const statement = `INSERT INTO oauth_families (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  await portal.application.database.transaction(async (connection) => {
    for (const [index, { id, provider = 'crowd' }] of people.entries()) {
      const own: Readonly<Record<string, unknown>> = {
        id: `${created.toString(16).padStart(12, '0')}${index.toString(16).padStart(20, '0')}`,
        user_provider: provider,
        user_id: id,
      };
      await connection.execute(
        statement,
        names.map((name) => own[name] ?? template[name]) as (string | number | null)[],
      );
    }
  });
}

/** Each row of each page: the person, and its number of authorizations. */
async function pages(): Promise<readonly (readonly string[])[]> {
  const found: string[][] = [];
  for (let next: string | undefined = `${PAGES}/access`; next !== undefined;) {
    const html: string = await (await ada.get(next)).text();
    const rows = html.split('<li class="held">').slice(1);
    found.push(
      await Promise.all(
        rows.map(async (row) => {
          const text = await textOf(new Response(row.split('</li>')[0] ?? ''));
          const [, id = ''] = /name="of_person" value="([^"]*)"/.exec(row) ?? [];
          const [, count = '1'] = /(\d+(?: and more)?) authorizations/.exec(text) ?? [];
          return `${id === '' ? (/\b(?:one|p)-\d+\b/.exec(text)?.[0] ?? '') : id}: ${count}`;
        }),
      ),
    );
    next = /<a class="button" href="([^"]*after=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  return found;
}

const numbered = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => ({ id: `${name}-${index}` }));

// @shows AS-33.12
test('a page has 50 rows, and shows each person once with all that the person has allowed', async () => {
  const people = numbered(60, 'p');
  await allowed([...people, ...people]);
  const shown = await pages();
  expect(shown[0]).toHaveLength(50);
  expect(shown.flat()).toEqual(people.toReversed().map(({ id }) => `${id}: 2`));
});

// @shows AS-33.12
test('a page counts at most 1,000 authorizations of a person, and the rest get no row', async () => {
  const crowd = Array.from({ length: 1001 }, () => ({ id: 'p-0' }));
  await allowed([...numbered(2, 'one'), { id: 'p-1' }, ...crowd, { id: 'p-1' }]);
  expect(await pages()).toEqual([
    ['p-1: 2', 'p-0: 1000 and more'],
    ['one-1: 1', 'one-0: 1'],
  ]);
});

// @shows AS-33.12
test('the same id at two providers is two people', async () => {
  await allowed([
    { id: 'p-0', provider: 'crowd' },
    { id: 'p-0', provider: 'another' },
    { id: 'p-0', provider: 'crowd' },
  ]);
  expect(await pages()).toEqual([['p-0: 2', 'p-0: 1']]);
});
