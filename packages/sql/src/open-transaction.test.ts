import { describe, expect, test } from 'vitest';
import { createTimer } from '../../../test/support/timer.ts';
import type { EngineConnection, StatementResult } from './engine.ts';
import { OpenTransaction, refusalInside, type TransactionLimits } from './open-transaction.ts';

const never = new Promise<never>(() => {});
const refused = (reason: string) =>
  expect.objectContaining({ name: 'TransactionError', reason }) as unknown;

/** Opens a transaction on a server that answers when the test tells it to. */
function open(limits: Partial<TransactionLimits> = {}) {
  const timer = createTimer();
  const asked: PromiseWithResolvers<StatementResult>[] = [];
  const connection: EngineConnection = {
    execute() {
      const answer = Promise.withResolvers<StatementResult>();
      asked.push(answer);
      return answer.promise;
    },
  };
  const store = {};
  const opened = new OpenTransaction(store, connection, {
    duration: 30_000,
    idle: 2000,
    timer,
    ...limits,
  });
  const answer = (index: number) => asked[index]?.resolve({ rows: [], affected: 1 });
  return { opened, store, timer, asked, answer };
}

/** Returns whether a promise has settled after all callbacks that are ready. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise.catch(() => null), turn])) !== pending;
}

describe('a transaction', () => {
  // @shows AS-18.13
  test('ends only after its last statement, and rejects later ones', async () => {
    const { opened, timer, answer } = open();
    let on: EngineConnection | null = null;
    const running = opened.run(async (connection) => {
      on = connection;
      void connection.execute('one', []);
      void connection.execute('two', []);
      return 'done';
    });
    expect(await hasSettled(running)).toBe(false);
    await expect((on as EngineConnection | null)?.execute('three', [])).rejects.toEqual(
      refused('ended'),
    );
    answer(0);
    expect(await hasSettled(running)).toBe(false);
    answer(1);
    expect(await running).toBe('done');
    expect(opened.hasEnded).toBe(true);
    expect(timer.waiting()).toBe(0);
  });

  test('fails with the first error of a statement that was still running at its end', async () => {
    const { opened, asked, answer } = open();
    const running = opened.run(async (on) => {
      for (const each of ['one', 'two', 'three']) on.execute(each, []).catch(() => {});
      return 'done';
    });
    expect(await hasSettled(running)).toBe(false);
    const first = new Error('first');
    asked[0]?.reject(first);
    asked[1]?.reject(new Error('second'));
    answer(2);
    await expect(running).rejects.toBe(first);
  });

  test('does not fail with an error that its work has handled', async () => {
    const { opened, asked } = open();
    const running = opened.run((on) => on.execute('one', []).catch(() => 'handled'));
    expect(await hasSettled(running)).toBe(false);
    asked[0]?.reject(new Error('first'));
    expect(await running).toBe('handled');
  });

  test('may wait for a statement as long as it lasts, and then only briefly', async () => {
    const { opened, timer, answer } = open();
    const running = opened.run(async (on) => {
      await on.execute('one', []);
      await never;
    });
    timer.advance(10_000);
    expect(await hasSettled(running)).toBe(false);
    answer(0);
    expect(await hasSettled(running)).toBe(false);
    timer.advance(1000);
    timer.advance(999);
    expect(await hasSettled(running)).toBe(false);
    timer.advance(1);
    await expect(running).rejects.toEqual(refused('idle'));
    expect(timer.waiting()).toBe(0);
  });

  test('may wait for each of its statements, and for anything before the first one', async () => {
    const { opened, timer, answer } = open();
    const gate = Promise.withResolvers<void>();
    const running = opened.run(async (on) => {
      await gate.promise;
      await on.execute('one', []);
      await on.execute('two', []);
      return 'done';
    });
    const pass = async () => {
      for (let second = 0; second < 4; second += 1) timer.advance(1000);
      return hasSettled(running);
    };
    expect(await pass()).toBe(false);
    gate.resolve();
    expect(await pass()).toBe(false);
    answer(0);
    expect(await hasSettled(running)).toBe(false);
    expect(await pass()).toBe(false);
    answer(1);
    expect(await running).toBe('done');
  });

  test('that takes too long while a statement runs ends after this statement', async () => {
    const { opened, timer, answer } = open({ duration: 3000 });
    const running = opened.run((on) => on.execute('one', []));
    timer.advance(2999);
    expect(await hasSettled(running)).toBe(false);
    timer.advance(1);
    expect(await hasSettled(running)).toBe(false);
    answer(0);
    await expect(running).rejects.toEqual(refused('late'));
  });

  test('has no limit if one of the limits is null', async () => {
    for (const limits of [{ duration: null }, { idle: null }]) {
      const { opened, timer } = open(limits);
      const gate = Promise.withResolvers<string>();
      const running = opened.run(() => gate.promise);
      expect(timer.waiting()).toBe(0);
      gate.resolve('done');
      expect(await running).toBe('done');
    }
  });

  test('is looked at again when a limit may be reached, and not earlier', async () => {
    const { opened, timer, answer } = open({ duration: 5000 });
    const running = opened.run(async (on) => {
      await on.execute('one', []);
      await never;
    });
    timer.advance(1500);
    answer(0);
    expect(await hasSettled(running)).toBe(false);
    timer.advance(500);
    expect(await hasSettled(running)).toBe(false);
    // It has been idle for 1999 milliseconds, and then for 2000.
    timer.advance(1499);
    expect(await hasSettled(running)).toBe(false);
    timer.advance(1);
    await expect(running).rejects.toEqual(refused('idle'));
  });
});

describe('a call on the store of a transaction', () => {
  // @shows AS-18.13
  test('is refused inside its work, also if a transaction of another store is around', async () => {
    const { opened: around, store: outside } = open();
    const found = await around.run(() => {
      const { opened, store } = open();
      return opened.run(async () =>
        [store, outside, {}].map((each) => refusalInside(each) !== null),
      );
    });
    expect(found).toEqual([true, true, false]);
    expect(refusalInside(outside)).toBeNull();
  });

  test('is allowed after its end, and an ended transaction is not kept', async () => {
    const { opened, store } = open();
    const gate = Promise.withResolvers<void>();
    let later: Promise<unknown> = never;
    await opened.run(async () => {
      later = gate.promise.then(async () => {
        const { opened: next } = open();
        const refusal = await next.run(async () => refusalInside(store));
        return { refusal, outer: next.outer };
      });
    });
    gate.resolve();
    expect(await later).toEqual({ refusal: null, outer: undefined });
  });
});
