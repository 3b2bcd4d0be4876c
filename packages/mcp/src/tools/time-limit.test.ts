import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { REACHED, startTimeLimit, tooLong } from './time-limit.ts';

function start(...given: Parameters<typeof startTimeLimit>) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return startTimeLimit(...given);
}

/** Whether the promise is resolved already. */
const isResolved = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), Promise.resolve().then(() => false)]);

describe('a time limit', () => {
  test('is reached after its seconds, and not before', async () => {
    const limit = start(2, new AbortController().signal);
    vi.advanceTimersByTime(1999);
    expect([limit.isOver, limit.signal.aborted, await isResolved(limit.reached)]).toEqual([
      false,
      false,
      false,
    ]);
    vi.advanceTimersByTime(1);
    expect([limit.isOver, limit.signal.aborted]).toEqual([true, true]);
    expect(await limit.reached).toBe(REACHED);
  });

  test('is reached when the caller leaves', async () => {
    const caller = new AbortController();
    const limit = start(2, caller.signal);
    caller.abort();
    expect([limit.isOver, limit.signal.aborted]).toEqual([true, true]);
    expect(await limit.reached).toBe(REACHED);
  });

  test('is reached at once if the caller has left already', async () => {
    const limit = start(2, AbortSignal.abort());
    expect([limit.isOver, limit.signal.aborted]).toEqual([true, true]);
    expect(await limit.reached).toBe(REACHED);
  });

  test('leaves nothing behind when the work has ended', async () => {
    const caller = new AbortController();
    const limit = start(2, caller.signal);
    expect([getEventListeners(caller.signal, 'abort').length, vi.getTimerCount()]).toEqual([1, 1]);
    limit.end();
    expect([getEventListeners(caller.signal, 'abort').length, vi.getTimerCount()]).toEqual([0, 0]);
    expect([limit.isOver, limit.signal.aborted]).toEqual([true, false]);
    expect(await isResolved(limit.reached)).toBe(false);
  });
});

test('a message names the seconds', () => {
  expect(tooLong(1)).toBe('took longer than 1 second');
  expect(tooLong(2)).toBe('took longer than 2 seconds');
});
