import { describe, expect, test } from 'vitest';
import type { EngineConnection, StatementResult } from '../engine.ts';
import { InsertResult } from './statements.ts';
import { Steps } from './steps.ts';

const READ = 'SELECT n FROM things';
const WRITE = 'UPDATE things SET n = 1';
const rows = (...found: unknown[]): StatementResult => ({
  rows: found.map((n) => ({ n })),
  affected: 0,
});
const affected = (count: number): StatementResult => ({ rows: [], affected: count });
const endOfTurn = () => new Promise<null>((resolve) => setImmediate(() => resolve(null)));

/** Runs the statements of a transaction, and answers them with these results or errors. */
function answering(...answers: (StatementResult | Error)[]) {
  const sent: string[] = [];
  const run = (sql: string, parameters: readonly unknown[]) => {
    sent.push([sql, ...parameters].join(' '));
    const answer = answers.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer');
    return answer;
  };
  return { run, sent };
}

/** Begins a transaction whose work waits between its statements until the test lets it go on. */
async function waiting(first: StatementResult | Error, sql = READ) {
  const gate = Promise.withResolvers<void>();
  const steps = new Steps(async (on) => {
    const found = await on.execute(sql, [7]).catch((error: unknown) => error);
    await gate.promise;
    return [found, await on.execute(WRITE, [])];
  });
  expect(await steps.proceed(answering(first).run, endOfTurn())).toBeNull();
  const ready = Promise.withResolvers<void>();
  steps.whenReady(ready.resolve);
  gate.resolve();
  await ready.promise;
  return steps;
}

describe('the work of a transaction on SQLite', () => {
  test('runs its statements without interruption, and ends with its result or its error', async () => {
    const { run, sent } = answering(rows(1), affected(2));
    const steps = new Steps(async (on) => [
      await on.execute(READ, []),
      await on.execute(WRITE, [1]),
    ]);
    expect(await steps.proceed(run, endOfTurn())).toEqual({ result: [rows(1), affected(2)] });
    expect(sent).toEqual([READ, `${WRITE} 1`]);
    const error = new Error('no');
    const failing = new Steps((on) => on.execute(READ, []));
    expect(await failing.proceed(answering(error).run, endOfTurn())).toEqual({ error });
  });

  test('repeats its earlier statements when it continues', async () => {
    const steps = await waiting(rows(1));
    const { run, sent } = answering(rows(1), affected(1));
    expect(await steps.proceed(run, endOfTurn())).toEqual({ result: [rows(1), affected(1)] });
    expect(sent).toEqual([`${READ} 7`, WRITE]);
  });

  test('continues if an earlier statement fails again in the same way', async () => {
    const steps = await waiting(new Error('no'));
    const { run } = answering(new Error('no'), affected(1));
    expect(await steps.proceed(run, endOfTurn())).toMatchObject({
      result: [{ message: 'no' }, affected(1)],
    });
  });

  // @shows AS-18.13
  test.each<[string, StatementResult | Error, StatementResult | Error, string?]>([
    ['reads another row', rows(1), rows(2)],
    ['reads one more row', rows(1), rows(1, 2)],
    ['fails, and did not fail before', rows(1), new Error('no')],
    ['does not fail any more', new Error('no'), rows(1)],
    ['fails in another way', new Error('no'), new Error('nope')],
    ['changes fewer rows', affected(2), affected(1), WRITE],
    ['inserts no row', new InsertResult(1, 7), affected(1), 'INSERT INTO things VALUES (?)'],
  ])('has a conflict if an earlier statement %s', async (_, before, now, sql) => {
    const steps = await waiting(before, sql);
    const { run, sent } = answering(now, affected(1));
    await expect(steps.proceed(run, endOfTurn())).rejects.toMatchObject({
      errcode: 517,
      message: expect.stringContaining('Another transaction changed the data') as string,
    });
    expect(sent).toHaveLength(1);
  });

  test('has no conflict because of the count of a statement that does not write', async () => {
    const steps = await waiting(affected(1), 'CREATE TABLE made (n INTEGER)');
    const { run } = answering(affected(2), affected(1));
    expect(await steps.proceed(run, endOfTurn())).toEqual({ result: [affected(1), affected(1)] });
  });

  test('takes the new number of a row unless it has read the old one', async () => {
    const [unread, read, same] = [7, 8, 9].map((id) => new InsertResult(1, id));
    expect(unread?.becomes(new InsertResult(1, 70n))).toBe(true);
    expect(unread?.insertId).toBe(70n);
    expect([read?.insertId, same?.insertId]).toEqual([8n, 9n]);
    expect(read?.becomes(new InsertResult(1, 80))).toBe(false);
    expect(same?.becomes(new InsertResult(1, 9))).toBe(true);
    expect(read?.becomes({ rows: [], affected: 1 })).toBe(false);
  });

  test('is ready at its next statement, at its end, or at once if it already runs one', async () => {
    const ready: string[] = [];
    const gate = Promise.withResolvers<void>();
    let on: EngineConnection | null = null;
    const steps = new Steps(async (connection) => {
      on = connection;
      await gate.promise;
    });
    expect(await steps.proceed(answering().run, endOfTurn())).toBeNull();
    steps.whenReady(() => ready.push('statement'));
    expect(ready).toEqual([]);
    const asked = (on as EngineConnection | null)?.execute(READ, []);
    expect(ready).toEqual(['statement']);
    steps.whenReady(() => ready.push('at once'));
    expect(ready).toEqual(['statement', 'at once']);
    expect(await steps.proceed(answering(rows(1)).run, endOfTurn())).toBeNull();
    expect(await asked).toEqual(rows(1));
    steps.whenReady(() => ready.push('end'));
    await endOfTurn();
    expect(ready).toHaveLength(2);
    gate.resolve();
    await endOfTurn();
    expect(ready).toEqual(['statement', 'at once', 'end']);
  });

  test('gets the error of a pending statement, and can continue', async () => {
    const gate = Promise.withResolvers<void>();
    const steps = new Steps(async (on) => {
      await gate.promise;
      return on.execute(READ, []).catch((error: unknown) => String(error));
    });
    expect(await steps.proceed(answering().run, endOfTurn())).toBeNull();
    gate.resolve();
    await endOfTurn();
    const { run } = answering(new Error('no'));
    expect(await steps.proceed(run, endOfTurn())).toEqual({ result: 'Error: no' });
  });

  // @shows AS-18.13
  test('gets the first error after it has been given up, for each of its statements', async () => {
    const asked: Promise<unknown>[] = [];
    const gate = Promise.withResolvers<void>();
    let on: EngineConnection | null = null;
    const steps = new Steps(async (connection) => {
      on = connection;
      await gate.promise;
    });
    await steps.proceed(answering().run, endOfTurn());
    const ask = () => on?.execute(WRITE, []) ?? Promise.resolve();
    asked.push(ask());
    steps.giveUp(new Error('first'));
    steps.giveUp(new Error('second'));
    asked.push(ask());
    const found = await Promise.allSettled(asked);
    expect(found).toMatchObject([
      { status: 'rejected', reason: { message: 'first' } },
      { status: 'rejected', reason: { message: 'first' } },
    ]);
  });
});
