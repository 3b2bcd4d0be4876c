// @engines sqlite: test/stored-metadata.test.ts runs on every engine
import { migrate } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import {
  FurtherMetadata,
  furtherJson,
  marksOf,
  type FurtherValues,
  type MetadataField,
} from './further-metadata.ts';
import { leftMetadata } from './left-metadata.ts';
import { furtherMetadataMigrations, FurtherMetadataRecords } from './sql/further-metadata.ts';

const field = (name: string, parts: Partial<MetadataField> = {}): MetadataField => ({
  name,
  called: `value of ${name}`,
  most: 2,
  problem: (value) => (value === 'wrong' ? 'is wrong' : null),
  ...parts,
});
const LIST = field('lists');
const TEXT = field('text', { shape: 'text' });
const FLAG = field('flag', { shape: 'flag', selfRegistered: 'never' });
const FIELDS = [LIST, TEXT, FLAG];

let watched: WatchedStore;
let metadata: FurtherMetadata;
let without: FurtherMetadata;

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, furtherMetadataMigrations);
  metadata = new FurtherMetadata(watched.database, FIELDS, { anyPort: true });
  without = new FurtherMetadata(watched.database, [], { anyPort: true });
});
beforeEach(() => watched.emptied('oauth_client_metadata', 'oauth_clients'));
afterAll(() => watched.close());

const write = (work: ReturnType<FurtherMetadata['writing']>) =>
  watched.database.transaction(async (connection) => {
    await work?.(connection);
  });

describe('the values of a client', () => {
  test('are stored, and later ones replace only the given fields', async () => {
    await write(metadata.writing('one', { lists: ['a', 'b'], text: ['c'] }));
    await write(metadata.writing('one', { text: ['d'] }));
    await write(metadata.writing('two', { lists: ['e'] }));
    expect(await metadata.find('one')).toEqual({ lists: ['a', 'b'], text: ['d'] });
    expect(await metadata.find('three')).toEqual({});
    expect(await metadata.findAll(['one', 'two', 'three'])).toEqual(
      new Map([
        ['one', { lists: ['a', 'b'], text: ['d'] }],
        ['two', { lists: ['e'] }],
      ]),
    );
  });

  test('are shown only for fields that the server offers, and that have a value', async () => {
    await write(metadata.writing('one', { lists: [], text: ['c'], flag: ['true'] }));
    expect(await metadata.find('one')).toEqual({ text: ['c'], flag: ['true'] });
    const fewer = new FurtherMetadata(watched.database, [TEXT], { anyPort: true });
    expect(await fewer.find('one')).toEqual({ text: ['c'] });
    expect(await fewer.findAll(['one'])).toEqual(new Map([['one', { text: ['c'] }]]));
  });

  test('are not read or written without fields or values', async () => {
    watched.reads.length = 0;
    expect(await without.find('one')).toEqual({});
    expect(await without.findAll(['one'])).toEqual(new Map());
    expect(watched.reads).toEqual([]);
    expect(metadata.writing('one')).toBeUndefined();
    expect(metadata.writing('one', {})).toBeUndefined();
    expect(without.writingNew(new Map([['one', { text: ['c'] }]]))).toBeUndefined();
  });

  test('replace those that an earlier client with the same id has left', async () => {
    await write(metadata.writing('one', { text: ['old'] }));
    await write(metadata.writing('two', { text: ['old'] }));
    const values = new Map<string, FurtherValues>([
      ['one', { lists: ['new'] }],
      ['two', {}],
    ]);
    await write(metadata.writingNew(values));
    expect(await metadata.findAll(['one', 'two'])).toEqual(new Map([['one', { lists: ['new'] }]]));
  });

  test('of many clients are written and read in batches', async () => {
    const ids = Array.from({ length: 501 }, (_, index) => String(index));
    const text = (id: string) => ({ text: [id] });
    watched.writes.length = 0;
    await write(metadata.writingNew(new Map(ids.map((id) => [id, text(id)]))));
    expect(watched.writes.map(({ begins, values }) => [begins.slice(0, 6), values])).toEqual([
      ['DELETE', 500],
      ['INSERT', 1000],
      ['DELETE', 1],
      ['INSERT', 2],
    ]);
    const records = new FurtherMetadataRecords(watched.database);
    const found = await records.findAll(ids);
    expect(found.toSorted(([one], [other]) => Number(one) - Number(other))).toEqual(
      ids.map((id) => [id, text(id)]),
    );
    expect(await records.findAll([])).toEqual([]);
    watched.writes.length = 0;
    await watched.database.transaction((connection) => records.writeNew(connection, []));
    expect(watched.writes).toEqual([]);
    await write(metadata.writingNew(new Map([['0', {}]])));
    expect([await metadata.find('0'), await metadata.find('1')]).toEqual([{}, text('1')]);
  });

  test('of clients that no longer exist are removed in batches, and no others are locked', async () => {
    const records = new FurtherMetadataRecords(watched.database);
    for (const id of ['b', 'd']) await watched.store.clients.insertClient(storedClient(id, 0));
    for (const id of ['a', 'b', 'c', 'd']) await write(metadata.writing(id, { text: [id] }));
    watched.writes.length = 0;
    expect(await records.removeLeft(3, '')).toEqual({ count: 2, more: true, last: 'c' });
    expect(watched.writes.map(({ values }) => values)).toEqual([2, 2]);
    watched.writes.length = 0;
    expect(await records.removeLeft(3, 'c')).toEqual({ count: 0, more: false, last: null });
    expect(await records.removeLeft(2, '')).toEqual({ count: 0, more: true, last: 'd' });
    expect(watched.writes).toEqual([]);
  });

  test('of clients that no longer exist are removed', async () => {
    await watched.store.clients.insertClient(storedClient('living', 0, {}));
    await write(metadata.writing('living', { text: ['a'] }));
    await write(metadata.writing('gone', { text: ['a'] }));
    const { kind, called, which, batch, remove } = leftMetadata(metadata);
    expect([kind, called, which, batch]).toEqual([
      'clientMetadata',
      'client metadata',
      'belong to no client',
      100,
    ]);
    expect(await remove(5, '')).toMatchObject({ count: 1, more: false });
    expect(await metadata.findAll(['living', 'gone'])).toEqual(
      new Map([['living', { text: ['a'] }]]),
    );
  });
});

describe('values are refused', () => {
  const check = (values: FurtherValues) => () => metadata.check(values, 'web');

  test('of a field that the server does not offer', () => {
    expect(check({})).not.toThrow();
    expect(check({ other: [] })).toThrow('This server does not support the field other');
  });

  test('if there are too many', () => {
    expect(check({ lists: ['a', 'b'] })).not.toThrow();
    expect(check({ lists: ['a', 'b', 'c'] })).toThrow(
      'A client can have at most 2 values of lists',
    );
  });

  test('for the reason of the field, which knows the client and the server', () => {
    expect(check({ lists: ['a', 'wrong'] })).toThrow('The value of lists "wrong" is wrong');
    const asked: unknown[] = [];
    const noting = field('noting', {
      problem(...given) {
        asked.push(given);
        return null;
      },
    });
    const rules = { anyPort: false };
    new FurtherMetadata(watched.database, [noting], rules).check({ noting: ['a'] }, 'native');
    expect(asked).toEqual([['a', 'native', rules]]);
  });
});

test('values have their own form in JSON', () => {
  expect(
    furtherJson(FIELDS, { lists: ['a'], text: ['b', 'c'], flag: ['x', 'true'], unknown: ['d'] }),
  ).toEqual({ lists: ['a'], text: 'b', flag: true, unknown: ['d'] });
  expect(furtherJson(FIELDS, { text: [], flag: ['false'] })).toEqual({ text: null });
});

test('the marks of a client are the flags that only an operator sets', () => {
  const own = field('own', { shape: 'flag' });
  const token = field('token', { shape: 'flag', selfRegistered: 'with-token' });
  const fields = [FLAG, own, token];
  expect(marksOf(fields, { flag: ['true'], own: ['true'], token: ['true'] })).toEqual([
    'value of flag',
  ]);
  expect(marksOf(fields, { flag: ['false'] })).toEqual([]);
  expect(marksOf(fields, {})).toEqual([]);
});
