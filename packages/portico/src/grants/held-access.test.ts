import { expect, test } from 'vitest';
import type {
  AuthorizationFilter,
  HeldAuthorization,
  HeldRange,
} from '../store/authorization-search.ts';
import type { AuthorizationSearch } from '../store/sql/authorization-search.ts';
import { isAuthorizationId, listHeld, type AuthorizationPage } from './held-access.ts';

const NOW = 1_795_240_016_123;
const A_DAY = 86_400_000;
const idAt = (time: number) => time.toString(16).padStart(12, '0');

/** Lists from a store that holds these ids, and notes which filters and ranges it reads. */
function holding(...ids: readonly string[]) {
  const read: (HeldRange & { readonly filter: AuthorizationFilter })[] = [];
  const search = {
    async findHeld(filter: AuthorizationFilter, range: HeldRange) {
      read.push({ filter, ...range });
      const { below, above, limit } = range;
      const inRange = ids
        .filter((id) => (below === null || id < below) && (above === null || id >= above))
        .toSorted()
        .toReversed();
      const items = inRange.slice(0, limit).map((id) => ({ id }) as HeldAuthorization);
      return { items, next: inRange.length > limit ? (items.at(-1)?.id ?? null) : null };
    },
  } satisfies Partial<AuthorizationSearch> as unknown as AuthorizationSearch;
  const list = async (filter: AuthorizationFilter = {}, page: AuthorizationPage = {}) => {
    const { items, next } = await listHeld(search, filter, page, NOW);
    return { ids: items.map(({ id }) => id), next };
  };
  return { list, read };
}

test('a page has 50 items by default, and reads at most 5000 rows', async () => {
  const ids = Array.from({ length: 51 }, (_, index) => idAt(NOW - index));
  const { list, read } = holding(...ids);
  expect(await list()).toEqual({ ids: ids.slice(0, 50), next: ids[49] });
  expect(await list({}, { after: ids[49] ?? '' })).toEqual({ ids: [ids[50]], next: null });
  expect(read).toEqual([
    { filter: {}, below: null, above: null, limit: 50, examine: 5000 },
    { filter: {}, below: ids[49], above: null, limit: 50, examine: 5000 },
  ]);
});

test('a page has from 1 to 1000 items, and starts after an id', async () => {
  const { list } = holding('a', 'b');
  expect(await list({}, { limit: 1 })).toEqual({ ids: ['b'], next: 'b' });
  expect(await list({}, { limit: 1000, after: 'b' })).toEqual({ ids: ['a'], next: null });
  const longest = 'z'.repeat(255);
  expect(await list({}, { after: longest })).toEqual({ ids: ['b', 'a'], next: null });
  for (const limit of [0, -1, 1001, 1.5, Number.NaN])
    await expect(list({}, { limit }), String(limit)).rejects.toThrow(
      'The limit must be a whole number from 1 to 1000',
    );
  for (const after of ['', `${longest}z`, 'a b', '!a', 'a!', 'é'])
    await expect(list({}, { after }), after).rejects.toThrow(
      'Invalid cursor; use the cursor that the previous page returned',
    );
});

test('each part of a filter is checked before the store reads it', async () => {
  const { list, read } = holding();
  const person = { provider: 'accounts', id: 'ada' };
  for (const clientId of ['', 'a'.repeat(256), 'é', 'a\n', '\u001fa'])
    await expect(list({ clientId }), clientId).rejects.toThrow('The client id is not valid');
  await expect(list({ person: { ...person, id: '' } })).rejects.toThrow('id');
  for (const scope of ['', 'a b', 'é'])
    await expect(list({ scope }), scope).rejects.toThrow(
      'The scope is not valid; enter exactly one scope',
    );
  for (const unusedSince of [NOW + 1, Number.NaN])
    await expect(list({ unusedSince }), String(unusedSince)).rejects.toThrow(
      'unusedSince must be in the past',
    );
  expect(read).toEqual([]);
  const filter = { clientId: ' ~'.repeat(127), person, scope: 'notes:read', unusedSince: NOW };
  expect(await list(filter)).toEqual({ ids: [], next: null });
  expect(read[0]?.filter).toEqual(filter);
});

test('a search for unused access reads the ids of early releases, then only older ids', async () => {
  const since = NOW - 10;
  const [today, old, older] = [idAt(NOW), idAt(since - 1), idAt(since - 2)];
  const early = ['f1', 'f2'];
  const { list, read } = holding(...early, today, old, older);
  const filter = { unusedSince: since };
  expect(await list(filter)).toEqual({ ids: ['f2', 'f1', old, older], next: null });
  const bounds = () => read.splice(0).map(({ below, above, limit }) => [below, above, limit]);
  const tomorrow = idAt(NOW + A_DAY);
  expect(bounds()).toEqual([
    [null, tomorrow, 50],
    [idAt(since), null, 48],
  ]);
  // Each page continues after the id that the page before named.
  expect(await list(filter, { limit: 1 })).toEqual({ ids: ['f2'], next: 'f2' });
  expect(await list(filter, { limit: 1, after: 'f2' })).toEqual({ ids: ['f1'], next: 'f1' });
  expect(bounds()).toEqual([
    [null, tomorrow, 1],
    ['f2', tomorrow, 1],
  ]);
  expect(await list(filter, { limit: 1, after: 'f1' })).toEqual({ ids: [old], next: old });
  expect(bounds()).toEqual([
    ['f1', tomorrow, 1],
    [idAt(since), null, 1],
  ]);
  expect(await list(filter, { limit: 1, after: old })).toEqual({ ids: [older], next: null });
  expect(await list(filter, { after: tomorrow })).toEqual({ ids: [old, older], next: null });
  expect(await list(filter, { after: idAt(since) })).toEqual({ ids: [old, older], next: null });
  expect(bounds()).toEqual([
    [old, null, 1],
    [idAt(since), null, 50],
    [idAt(since), null, 50],
  ]);
});

test('the time of a search is rounded up to a whole millisecond, and is at least zero', async () => {
  const { list, read } = holding();
  for (const unusedSince of [NOW - 1.5, 0.1, -5]) await list({ unusedSince });
  const times = read.map(({ filter, below }) => [filter.unusedSince, below]);
  expect(times.filter(([, below]) => below !== null)).toEqual([
    [NOW - 1, idAt(NOW - 1)],
    [1, '000000000001'],
    [0, '000000000000'],
  ]);
});

test('an id has from 1 to 255 characters of its alphabet', () => {
  for (const id of ['a', 'Az09_-', 'a'.repeat(255)]) expect(isAuthorizationId(id)).toBe(true);
  for (const id of ['', 'a'.repeat(256), 'a.b', '.a', 'a.'])
    expect(isAuthorizationId(id)).toBe(false);
});
