import { describe, expect, test } from 'vitest';
import {
  describeFileProblem,
  describeUnreachable,
  findConfigurationError,
  findRefusal,
} from './database-problems.ts';

const postgres = { database: { dialect: 'postgres' } } as const;
const sqlite = { database: { dialect: 'sqlite' }, pool: {} } as const;
const ownPool = { ...postgres, pool: {} };
const wrongPassword = Object.assign(new Error('password authentication failed for user "a.b".'), {
  code: '28P01',
});
const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
});
/** SQLite's error code for a file that cannot be opened. */
const CANTOPEN = 14;
const noFile = Object.assign(new Error('unable to open database file'), { errcode: CANTOPEN });

describe('a server that refuses the user, the password, the database or a privilege', () => {
  test('is reported with the key to correct, without a period in the middle of the line', () => {
    const message = 'password authentication failed for user "a.b"';
    expect(findRefusal(ownPool, wrongPassword)).toEqual({
      key: 'database_url',
      message: `does not work (its value comes from DATABASE_URL): ${message}`,
      remedy: expect.stringContaining('password') as string,
    });
    const { remedy } = findRefusal(ownPool, wrongPassword) ?? {};
    for (const connected of [postgres, { ...postgres, pool: null }])
      expect(findRefusal(connected, wrongPassword)).toEqual({
        key: 'database',
        message: `does not work: ${message}`,
        remedy,
      });
    expect(findConfigurationError(postgres, wrongPassword)?.problems).toEqual([
      { key: 'database', message: `does not work: ${message}; ${remedy}` },
    ]);
  });

  test.each([new Error('something else'), 'a text', { code: '28P01', message: 'a' }])(
    'is not the reason for %s',
    (error) => {
      expect(findRefusal(ownPool, error)).toBeNull();
      expect(findConfigurationError(ownPool, error)).toBeNull();
    },
  );
});

describe('a database that cannot be reached', () => {
  test('is reported with the place of its address', () => {
    expect(describeUnreachable(ownPool, refused)).toBe(
      'The database cannot be reached: connect ECONNREFUSED 127.0.0.1:5432. Start the database ' +
        'server, or correct database_url (DATABASE_URL)',
    );
    for (const connected of [postgres, { ...postgres, pool: null }])
      expect(describeUnreachable(connected, refused)).toMatch(
        /Start the database server, or correct the address in the application's pool$/,
      );
  });

  test('is reported as a file if it is one', () => {
    const message = describeFileProblem(sqlite, noFile);
    expect(message).toMatch(/^The database file cannot be used: unable to open database file\. /);
    expect(describeUnreachable(sqlite, noFile)).toBe(message);
  });

  test.each([new Error('something else'), 'a text', { syscall: 'connect', errcode: CANTOPEN }])(
    'is not the reason for %s',
    (error) => {
      for (const connected of [ownPool, sqlite]) {
        expect(describeUnreachable(connected, error)).toBeNull();
        expect(describeFileProblem(connected, error)).toBeNull();
      }
    },
  );
});
