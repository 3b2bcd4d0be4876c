import { describe, expect, test } from 'vitest';
import {
  busy,
  cannotOpen,
  conflict,
  isSqliteAboutFile,
  isSqliteBusy,
  isSqliteReadOnly,
  isSqliteUnavailable,
  sqliteMeanings,
} from './failures.ts';

const coded = (errcode: unknown) => Object.assign(new Error('no'), { errcode });
const all = { busy: false, readOnly: false, unavailable: false, aboutFile: false };
const kinds = (error: unknown) => ({
  busy: isSqliteBusy(error),
  readOnly: isSqliteReadOnly(error),
  unavailable: isSqliteUnavailable(error),
  aboutFile: isSqliteAboutFile(error),
});

describe('the result code', () => {
  // The names are those of SQLite. 261 and 264 are extended codes of 5 and 8.
  test.each([
    ['BUSY', 5, { busy: true, unavailable: true }],
    ['BUSY_RECOVERY', 261, { busy: true, unavailable: true }],
    ['LOCKED', 6, { busy: true, unavailable: true }],
    ['PROTOCOL', 15, { busy: true, unavailable: true }],
    ['READONLY', 8, { readOnly: true, unavailable: true, aboutFile: true }],
    ['READONLY_RECOVERY', 264, { readOnly: true, unavailable: true, aboutFile: true }],
    ['CANTOPEN', 14, { unavailable: true, aboutFile: true }],
    ['IOERR', 10, { unavailable: true, aboutFile: true }],
    ['FULL', 13, { unavailable: true, aboutFile: true }],
    ['NOTADB', 26, { aboutFile: true }],
    ['CONSTRAINT', 19, {}],
    ['ERROR', 1, {}],
  ])('%s has its meaning', (_, code, expected) => {
    expect(kinds(coded(code))).toEqual({ ...all, ...expected });
  });

  test('is a number of an error', () => {
    for (const error of [coded('5'), new Error('no'), { errcode: 5 }, null, 5])
      expect(kinds(error)).toEqual(all);
  });

  test('of a changed snapshot is a conflict, and each other one of a lock is unavailable', () => {
    expect(sqliteMeanings(coded(517))).toEqual(['unavailable', 'conflict']);
    expect(sqliteMeanings(coded(5))).toEqual(['unavailable', undefined]);
    expect(sqliteMeanings(coded(1))).toEqual([undefined, undefined]);
    expect(sqliteMeanings(new Error('no'))).toEqual([undefined, undefined]);
  });
});

test('the errors of Portico are like those of SQLite', () => {
  expect(busy('full')).toMatchObject({ message: 'full', errcode: 5 });
  expect(conflict('changed')).toMatchObject({ message: 'changed', errcode: 517 });
  const cause = new Error('no folder');
  expect(cannotOpen(cause)).toMatchObject({
    message: 'unable to open database file: no folder',
    errcode: 14,
    cause,
  });
  expect(cannotOpen('no').message).toBe('unable to open database file: no');
});
