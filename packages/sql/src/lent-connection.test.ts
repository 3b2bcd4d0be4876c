import { describe, expect, test } from 'vitest';
import { LentConnection, type PooledConnection } from './lent-connection.ts';

const WRITE = 'UPDATE things SET n = 1';
const mysql = (errno: number) => Object.assign(new Error(String(errno)), { errno });
const DEADLOCK = mysql(1213);
const DUPLICATE = mysql(1062);
const LOST = Object.assign(new Error('lost'), { code: 'ECONNRESET' });

/**
 * What a server does with a statement. It answers after `until`. `idle` is what it then reports
 * about the transaction.
 */
interface Answer {
  readonly until?: Promise<unknown>;
  readonly fails?: Error;
  readonly idle?: boolean | null;
}

/** Opens a transaction on a server that answers the statements of the test. */
async function begin(answers: Readonly<Record<string, Answer>> = {}) {
  const sent: string[] = [];
  const back: boolean[] = [];
  let idle: boolean | null = true;
  const answer = async (sql: string, otherwise: boolean | null, given: readonly unknown[] = []) => {
    sent.push([sql, ...given].join(' '));
    const { until, fails, idle: now = otherwise } = answers[sql] ?? {};
    await until;
    idle = now;
    if (fails !== undefined) throw fails;
    return { rows: [], affected: 1 };
  };
  const connection: PooledConnection = {
    begin: () => answer('BEGIN', false),
    execute: (sql, parameters) => answer(sql, idle, parameters),
    commit: () => answer('COMMIT', true),
    askStatus: () => answer('ask', false),
    isIdle: () => idle,
    release: () => {},
  };
  const lent = new LentConnection(
    connection,
    (error) => error === LOST,
    (given, broken) => void (given === connection && back.push(broken)),
  );
  await lent.begin();
  return { lent, sent, back };
}

describe('a connection with an open transaction', () => {
  test('sends each statement and the commit, and is then usable', async () => {
    const { lent, sent, back } = await begin();
    expect(await lent.execute(WRITE, [7])).toMatchObject({ affected: 1 });
    await lent.commit(() => sent.push('failed'));
    lent.release();
    expect(sent).toEqual(['BEGIN', `${WRITE} 7`, 'COMMIT']);
    expect(back).toEqual([false]);
  });

  test('sends no statement that ends the transaction', async () => {
    const { lent, sent } = await begin();
    await expect(lent.execute('COMMIT', [])).rejects.toThrow('Use transaction() instead');
    expect(sent).toEqual(['BEGIN']);
  });

  test('continues after a statement that the server refused', async () => {
    const { lent, sent, back } = await begin({ [WRITE]: { fails: DUPLICATE } });
    await expect(lent.execute(WRITE, [])).rejects.toBe(DUPLICATE);
    await lent.execute('DELETE FROM things', []);
    await lent.commit(() => {});
    lent.release();
    expect(sent).toEqual(['BEGIN', WRITE, 'DELETE FROM things', 'COMMIT']);
    expect(back).toEqual([false]);
  });

  // @shows AS-18.13
  test.each([
    ['a deadlock', DEADLOCK, false],
    ['the loss of the connection', LOST, true],
  ])('sends nothing more after %s, not even the commit', async (_, error, broken) => {
    const { lent, sent, back } = await begin({ [WRITE]: { fails: error, idle: null } });
    const failed: unknown[] = [];
    await expect(lent.execute(WRITE, [])).rejects.toBe(error);
    await expect(lent.execute('DELETE FROM things', [])).rejects.toBe(error);
    await expect(lent.commit((each) => failed.push(each))).rejects.toBe(error);
    expect(sent).toEqual(['BEGIN', WRITE]);
    expect(failed).toEqual([]);
    await lent.rollback();
    lent.release();
    expect(sent).toEqual(broken ? ['BEGIN', WRITE] : ['BEGIN', WRITE, 'ROLLBACK']);
    expect(back).toEqual([broken]);
  });

  test('keeps the first error of several that rolled the transaction back', async () => {
    const { lent } = await begin({
      [WRITE]: { fails: DEADLOCK },
      'DELETE FROM things': { fails: LOST },
    });
    await Promise.allSettled([lent.execute(WRITE, []), lent.execute('DELETE FROM things', [])]);
    await expect(lent.execute('SELECT 1', [])).rejects.toBe(DEADLOCK);
  });

  test('reports a commit that failed', async () => {
    const { lent } = await begin({ COMMIT: { fails: LOST } });
    const failed: unknown[] = [];
    await expect(lent.commit((error) => failed.push(error))).rejects.toBe(LOST);
    expect(failed).toEqual([LOST]);
  });

  test('is not used again if its rollback failed', async () => {
    const { lent, back } = await begin({ ROLLBACK: { fails: DUPLICATE } });
    await expect(lent.rollback()).rejects.toBe(DUPLICATE);
    lent.release();
    expect(back).toEqual([true]);
  });

  test('asks the server about the transaction after a failure without a status', async () => {
    for (const idle of [null, false]) {
      const { lent, sent } = await begin({ [WRITE]: { fails: DUPLICATE, idle } });
      await expect(lent.execute(WRITE, [])).rejects.toBe(DUPLICATE);
      expect(sent).toEqual(idle === null ? ['BEGIN', WRITE, 'ask'] : ['BEGIN', WRITE]);
    }
  });

  test('rejects with the error of the statement if the server gives no status', async () => {
    const { lent, back } = await begin({
      [WRITE]: { fails: DUPLICATE, idle: null },
      ask: { fails: LOST },
    });
    await expect(lent.execute(WRITE, [])).rejects.toBe(DUPLICATE);
    lent.release();
    expect(back).toEqual([true]);
  });

  test('shows the caller in the stack of an error, and passes on what is not an error', async () => {
    const error = Object.assign(new Error('no'), { stack: 'Error: no\n    at socket' });
    const { lent } = await begin({ [WRITE]: { fails: error } });
    await expect(lent.execute(WRITE, [])).rejects.toBe(error);
    expect(error.stack).not.toContain('at socket');
    expect(error.stack).not.toContain('leadToCaller');
    const { lent: other } = await begin({ [WRITE]: { fails: 'no' as unknown as Error } });
    await expect(other.execute(WRITE, [])).rejects.toBe('no');
  });
});

describe('a procedure of the application', () => {
  const CALL = 'CALL work()';
  const ENDED = { name: 'TransactionError', reason: 'procedure' };

  // @shows AS-18.13
  test('that ends the transaction is refused with all statements that wait for it', async () => {
    const { lent, sent } = await begin({ [CALL]: { idle: true } });
    await lent.execute('SELECT 1', []);
    const all = [CALL, WRITE, CALL].map((sql) => lent.execute(sql, []));
    for (const each of all) await expect(each).rejects.toMatchObject(ENDED);
    await expect(lent.commit(() => {})).rejects.toMatchObject(ENDED);
    expect(sent).toEqual(['BEGIN', 'SELECT 1', CALL]);
  });

  test('that leaves the transaction open delays the statements that wait for it', async () => {
    const gate = Promise.withResolvers<void>();
    const { lent, sent } = await begin({ [CALL]: { until: gate.promise } });
    const all = [CALL, WRITE, CALL].map((sql) => lent.execute(sql, []));
    await Promise.resolve();
    expect(sent).toEqual(['BEGIN', CALL]);
    gate.resolve();
    await Promise.all(all);
    expect(sent).toEqual(['BEGIN', CALL, WRITE, CALL]);
  });

  test('that fails and ends the transaction is the cause', async () => {
    const { lent, sent } = await begin({
      [CALL]: { fails: DUPLICATE, idle: null },
      ask: { idle: true },
    });
    const [calling, waiting] = [lent.execute(CALL, []), lent.execute(WRITE, [])];
    await expect(calling).rejects.toMatchObject({ ...ENDED, cause: DUPLICATE });
    await expect(waiting).rejects.toMatchObject(ENDED);
    expect(sent).toEqual(['BEGIN', CALL, 'ask']);
  });

  test('that fails and leaves the transaction open fails alone', async () => {
    const { lent, sent } = await begin({ [CALL]: { fails: DUPLICATE, idle: null } });
    const [calling, waiting] = [lent.execute(CALL, []), lent.execute(WRITE, [])];
    await expect(calling).rejects.toBe(DUPLICATE);
    await waiting;
    expect(sent).toEqual(['BEGIN', CALL, 'ask', WRITE]);
  });

  test('that succeeds and ends the transaction has no cause', async () => {
    const { lent } = await begin({ [CALL]: { idle: true } });
    const failure: unknown = await lent.execute(CALL, []).catch((error: unknown) => error);
    expect(failure).toMatchObject(ENDED);
    expect(failure).not.toHaveProperty('cause');
  });

  test.each([
    ['a deadlock', DEADLOCK, 'ask'],
    ['the loss of the connection', LOST, null],
  ])('that fails with %s is refused with this error', async (_, error, asked) => {
    const { lent, sent } = await begin({
      [CALL]: { fails: error, idle: null },
      ask: { idle: true },
    });
    await expect(lent.execute(CALL, [])).rejects.toBe(error);
    await expect(lent.execute(WRITE, [])).rejects.toBe(error);
    expect(sent).toEqual(['BEGIN', CALL, ...(asked === null ? [] : [asked])]);
  });

  test('may end nothing more after a schema change has ended the transaction', async () => {
    const CHANGE = 'CREATE TABLE made (n INTEGER)';
    for (const answers of [
      { [CHANGE]: { idle: true } },
      { [CHANGE]: { fails: DUPLICATE, idle: null }, ask: { idle: true } },
    ]) {
      const { lent, sent } = await begin(answers);
      await lent.execute(CHANGE, []).catch(() => {});
      await lent.execute(CALL, []);
      await lent.execute(CALL, []);
      expect(sent.filter((each) => each === CALL)).toHaveLength(2);
    }
    const { lent } = await begin({ BEGIN: { idle: true } });
    await lent.execute(CALL, []);
  });
});

test('a server without an open transaction is not asked about it after a failure', async () => {
  const { lent, sent } = await begin({
    BEGIN: { idle: true },
    [WRITE]: { fails: DUPLICATE, idle: null },
  });
  await expect(lent.execute(WRITE, [])).rejects.toBe(DUPLICATE);
  expect(sent).toEqual(['BEGIN', WRITE]);
});
