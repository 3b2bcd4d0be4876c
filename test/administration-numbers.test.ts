import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAGES, startAdministered, textOf } from './support/administration.ts';
import { ADA, GRACE, obtainTokens, registerClient, type RunningPortal } from './support/portal.ts';
import type { Visitor } from './support/visitor.ts';

/** Tests the database queries of the pages, except the lists, on each engine. */

let portal: RunningPortal;
let ada: Visitor;

beforeAll(async () => {
  ({ portal } = await startAdministered());
  const client = await registerClient(portal, { name: 'Notebook' });
  for (const person of [ADA, GRACE, ADA])
    await obtainTokens(portal, client, person, { scope: 'openid' });
  ada = await portal.signedIn(ADA);
});
afterAll(() => portal.close());

// @shows AS-33.13
test('the overview counts authorizations, and each person once', async () => {
  const text = await textOf(await ada.get(PAGES));
  for (const number of [
    '1 Applications',
    '2 People with access',
    '3 Authorizations',
    '0 Open rotations',
  ])
    expect(text).toContain(number);
});

// @shows AS-33.11
test('people are found in upper and lower case, and no character acts as a wildcard', async () => {
  const search = (text: string) => portal.application.accounts.search?.(text, 5);
  const emails = async (text: string) =>
    ((await search(text)) ?? []).map((account) => account.getProfile().email);
  expect(await emails('LOVELACE')).toEqual([ADA]);
  expect(await emails('Grace H')).toEqual([GRACE]);
  expect(await emails('ada@')).toEqual([ADA]);
  for (const text of ['%', '_', '!', "'", '\\', 'a%a', '\0'])
    expect([text, await emails(text)]).toEqual([text, []]);
  expect(await emails('example.com')).toHaveLength(2);
  expect(await portal.application.accounts.search?.('example.com', 1)).toHaveLength(1);
});
