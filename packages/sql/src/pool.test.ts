import { describe, expect, test } from 'vitest';
import { createDatabase } from './database.ts';
import { isStatementError as isMysqlStatementError } from './mysql/engine.ts';
import { PoolEngine, type PooledConnection } from './pool.ts';
import { isStatementError as isPostgresStatementError } from './postgres/statement.ts';
import { systemTimer as timer } from './timer.ts';

/**
 * Creates a server that responds to COMMIT with this error. A test cannot make a real server do
 * this.
 */
function openFailing(error: Error, isStatementError: (error: unknown) => boolean) {
  const connection: PooledConnection = {
    execute: async () => ({ rows: [], affected: 1 }),
    begin: async () => null,
    commit: () => Promise.reject(error),
    isIdle: () => null,
    askStatus: async () => {},
    release: () => {},
  };
  const engine = new PoolEngine(
    async () => ({ connect: async () => connection, end: async () => {} }),
    isStatementError,
    { statementTimeout: null, idleTimeout: null, connectionLifetime: null, timer },
  );
  return createDatabase({
    dialect: 'postgres',
    schema: null,
    engine,
    store: {},
    limits: { duration: null, idle: null, timer },
    withoutTimeout: (itself) => itself,
    close: async () => {},
  });
}

const lost = (code: string) => Object.assign(new Error(code), { code });
const mysql = (errno: number) =>
  Object.assign(new Error(String(errno)), { errno, sqlState: 'HY000' });

async function commitWith(error: Error, isStatementError: (error: unknown) => boolean) {
  const database = openFailing(error, isStatementError);
  const asked: boolean[] = [];
  const outcomes = [];
  for (const answer of [true, false]) {
    const done = database.transaction(
      async (on) => {
        await on.execute('UPDATE things SET n = 1');
        return 'done';
      },
      async () => {
        asked.push(answer);
        return answer;
      },
    );
    outcomes.push(await done.catch((failure: unknown) => failure));
  }
  // The driver of this server reports no numbers.
  expect(database.connections()).toEqual({ used: 0, waiting: 0, idle: 0, most: null });
  return { asked, outcomes, isUnavailable: database.isUnavailable(error) };
}

describe('a commit', () => {
  // @shows AS-18.9
  test.each([
    [lost('ENETDOWN'), isPostgresStatementError],
    [lost('ECONNABORTED'), isPostgresStatementError],
    [lost('EPROTO'), isMysqlStatementError],
    [lost('ECONNRESET'), isMysqlStatementError],
    [lost('57014'), isPostgresStatementError],
    [lost('57P01'), isPostgresStatementError],
    [mysql(1317), isMysqlStatementError],
    [mysql(1047), isMysqlStatementError],
  ])(
    'that fails with %s is looked up, and is unavailable if it did not take effect',
    async (error, isOf) => {
      expect(await commitWith(error, isOf)).toEqual({
        asked: [true, false],
        outcomes: ['done', error],
        isUnavailable: true,
      });
    },
  );

  // @shows AS-18.9
  test.each([
    [lost('23505'), isPostgresStatementError],
    [mysql(1062), isMysqlStatementError],
  ])('that the server refuses with %s had no effect, and is not looked up', async (error, isOf) => {
    expect(await commitWith(error, isOf)).toEqual({
      asked: [],
      outcomes: [error, error],
      isUnavailable: false,
    });
  });
});
