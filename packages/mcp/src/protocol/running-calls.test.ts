import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTokens, withoutToken } from '../../../../test/support/mcp-endpoint.ts';
import { RunningCalls } from './running-calls.ts';

let tokens: Awaited<ReturnType<typeof openTokens>>;
beforeAll(async () => {
  tokens = await openTokens();
});
afterAll(() => tokens.close());

/** Begins a call that runs until it is aborted or until `end`. */
async function begin(calls: RunningCalls, id: number | string, index: 0 | 1 = 0) {
  const ending = Promise.withResolvers<string>();
  const caller = new AbortController();
  let inner: AbortSignal | undefined;
  let result: Promise<string> | undefined;
  await tokens.withToken(index, () => {
    result = calls.run(id, caller.signal, (signal) => {
      inner = signal;
      return ending.promise;
    });
  });
  return {
    caller,
    isAborted: () => inner?.aborted,
    end: () => {
      ending.resolve('done');
      return result;
    },
  };
}

test('a call ends when its client cancels it, or leaves', async () => {
  const calls = new RunningCalls();
  const cancelled = await begin(calls, 1);
  expect(cancelled.isAborted()).toBe(false);
  await tokens.withToken(0, () => calls.cancel(1));
  expect([cancelled.isAborted(), cancelled.caller.signal.aborted]).toEqual([true, false]);
  const left = await begin(calls, 2);
  left.caller.abort();
  expect(left.isAborted()).toBe(true);
  expect([await cancelled.end(), await left.end()]).toEqual(['done', 'done']);
});

test('a call of a caller who has left already is aborted from the beginning', async () => {
  await tokens.withToken(0, async () => {
    const work = async (signal: AbortSignal) => signal.aborted;
    expect(await new RunningCalls().run(1, AbortSignal.abort(), work)).toBe(true);
  });
});

test('no other id, type of id or authorization cancels a call', async () => {
  const calls = new RunningCalls();
  const call = await begin(calls, 1);
  await tokens.withToken(0, () => {
    calls.cancel(2);
    calls.cancel('1');
  });
  await tokens.withToken(1, () => calls.cancel(1));
  expect(call.isAborted()).toBe(false);
  const same = await begin(calls, 1, 1);
  await tokens.withToken(1, () => calls.cancel(1));
  expect([call.isAborted(), same.isAborted()]).toEqual([false, true]);
});

test('of several calls with one id, none is cancelled until only one remains', async () => {
  const calls = new RunningCalls();
  const [first, second] = [await begin(calls, 1), await begin(calls, 1)];
  await tokens.withToken(0, () => calls.cancel(1));
  expect([first.isAborted(), second.isAborted()]).toEqual([false, false]);
  await first.end();
  await tokens.withToken(0, () => calls.cancel(1));
  expect([first.isAborted(), second.isAborted()]).toEqual([false, true]);
});

test('a call that has ended or failed is not found, and leaves no listener behind', async () => {
  const calls = new RunningCalls();
  const call = await begin(calls, 1);
  expect(await call.end()).toBe('done');
  const caller = new AbortController();
  await tokens.withToken(0, async () => {
    const failing = calls.run(1, caller.signal, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    calls.cancel(1);
  });
  expect(call.isAborted()).toBe(false);
  for (const { signal } of [call.caller, caller])
    expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a call without a linked account cannot be cancelled', async () => {
  const calls = new RunningCalls();
  const { signal } = new AbortController();
  const given = await withoutToken(async () => {
    const work = async (inner: AbortSignal) => {
      calls.cancel(1);
      return inner;
    };
    return calls.run(1, signal, work);
  });
  expect([given === signal, signal.aborted]).toEqual([true, false]);
});
