import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { SQLITE } from './dialect.ts';

function open() {
  const database = openDatabase('sqlite::memory:', { directory: '/' });
  onTestFinished(() => database.close());
  return database;
}

test('conditions of SQLite find the words, values and rows that they are for', async () => {
  const database = open();
  await database.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, words TEXT)');
  await database.execute("INSERT INTO t VALUES (1, 'a bc'), (2, 'ab c'), (3, 'a bc')");
  const ids = async (condition: string, ...parameters: (string | number | null)[]) => {
    const { rows } = await database.execute(`SELECT id FROM t WHERE ${condition}`, parameters);
    return rows.map(({ id }) => id);
  };
  expect(await ids(SQLITE.hasWord('words'), ' a ')).toEqual([1, 3]);
  expect(await ids(SQLITE.hasWord('words'), ' A ')).toEqual([]);
  expect(await ids(SQLITE.isValue('id'), 2)).toEqual([2]);
  const range = SQLITE.belowInIndex('words', 'id');
  const below = (id: number) => range.parameters('a bc', id) as number[];
  expect(await ids(`${range.sql} ORDER BY ${range.order}`, ...below(4))).toEqual([3, 1]);
  expect(await ids(range.sql, ...below(3))).toEqual([1]);
  expect(SQLITE.partialIndex('id > 1')).toBe(' WHERE id > 1');
});

test('an INSERT of SQLite leaves a row that is there', async () => {
  const database = open();
  await database.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)');
  const none = SQLITE.insertIfNone('t (id, n) VALUES (?, ?)', '(id)');
  await database.execute(none, [1, 1]);
  expect((await database.execute(none, [1, 2])).affected).toBe(0);
  await database.execute(`INSERT INTO t (id, n) VALUES (1, 3) ${SQLITE.unlessThere}`);
  expect((await database.execute('SELECT id, n FROM t')).rows).toEqual([{ id: 1, n: 1 }]);
});

test('SQLite needs nothing that other engines need', async () => {
  const database = open();
  expect(SQLITE.remedy(new Error('no'))).toBeNull();
  expect(SQLITE.claimAndInsert('', '', '')).toBeNull();
  expect(SQLITE.awaitEarlierCommits('t')).toBeNull();
  expect(SQLITE.roomForUpdates('t')).toEqual([]);
  expect(SQLITE.isDoneBefore(new Error('no'))).toBe(false);
  expect(await SQLITE.lock(database, 'migrations', 1)).toBe(true);
  expect((await SQLITE.examinations()).parts.map(([part]) => part)).toEqual([
    'durability',
    'database file',
  ]);
});
