// @engines sqlite: test/jwt-bearer.test.ts runs on every engine
import { migrate } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import { Links, type Link } from './links.ts';
import { jwtBearerMigrations } from './migrations.ts';

const ADA = { provider: 'users', id: '1' };
const LINK: Link = {
  issuer: 'https://idp.example',
  tenant: null,
  subject: 'ada',
  person: ADA,
  createdAt: 1000,
};

let watched: WatchedStore;
let links: Links;

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, jwtBearerMigrations);
  links = new Links(watched.database);
});
beforeEach(() => watched.emptied('oauth_linked_subjects'));
afterAll(() => watched.close());

test('a subject of an issuer and a tenant has one link', async () => {
  const others = [
    { ...LINK, issuer: 'https://other.example' },
    { ...LINK, tenant: 'acme' },
    { ...LINK, subject: 'bob', person: { provider: 'staff', id: '2' } },
  ];
  for (const each of [LINK, ...others]) {
    expect(await links.find(each)).toBeNull();
    expect(await links.add(each)).toBe(true);
    expect(await links.find(each)).toEqual(each);
  }
  expect(await links.add({ ...LINK, person: { provider: 'staff', id: '2' } })).toBe(false);
  expect(await links.find(LINK)).toEqual(LINK);
  expect(await links.findInTenants(LINK.issuer, 'ada')).toHaveLength(2);
  expect(await links.findInTenants(LINK.issuer, 'eve')).toEqual([]);
  expect([await links.remove(LINK), await links.remove(LINK)]).toEqual([true, false]);
  expect(await links.findInTenants(LINK.issuer, 'ada')).toEqual([others[1]]);
});

test('all links of a person can be removed', async () => {
  await links.add(LINK);
  await links.add({ ...LINK, tenant: 'acme' });
  await links.add({ ...LINK, subject: 'bob', person: { ...ADA, provider: 'staff' } });
  const remove = () =>
    watched.database.transaction((connection) => links.removeOfPerson(ADA, connection));
  expect(await links.hasPerson(ADA)).toBe(true);
  expect([await remove(), await remove(), await links.hasPerson(ADA)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(await links.hasPerson({ ...ADA, provider: 'staff' })).toBe(true);
  expect((await links.list(10)).items).toHaveLength(1);
});

test('the list has pages', async () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map((subject) => ({ ...LINK, subject }));
  for (const each of all) await links.add(each);
  const first = await links.list(2);
  const second = await links.list(2, first.next ?? '');
  const third = await links.list(2, second.next ?? '');
  expect([first, second, third].map(({ items }) => items.length)).toEqual([2, 2, 1]);
  expect(third.next).toBeNull();
  const found = [first, second, third].flatMap(({ items }) => items);
  expect(found.toSorted((one, other) => (one.subject < other.subject ? -1 : 1))).toEqual(all);
  expect((await links.list(5)).next).toBeNull();
  const [only, ...more] = (await links.list(1)).items;
  expect([only, more]).toEqual([first.items[0], []]);
  const { next } = await links.list(1);
  expect((await links.list(1, next ?? '')).items).toEqual([first.items[1]]);
});
