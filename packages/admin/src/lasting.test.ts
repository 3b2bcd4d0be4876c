import { expect, test } from 'vitest';
import type { Log } from 'portico';
import { isDoneSoon } from './lasting.ts';

function recording() {
  const lines: unknown[] = [];
  const write = (_: string, context: unknown) => void lines.push(context);
  const log: Log = { debug: write, info: write, warning: write, error: write };
  return { lines, log };
}

test('slow work continues in the background without a wait, and a later error is logged', async () => {
  const { lines, log } = recording();
  const { promise, reject } = Promise.withResolvers<void>();
  expect(await isDoneSoon('erase', promise, { log, patience: 1 })).toBe(false);
  expect(lines).toEqual([]);
  const exception = new Error('the store is away');
  reject(exception);
  await promise.catch(() => {});
  expect(lines).toEqual([{ what: 'erase', exception }]);
});

test('work that ends in time is awaited, and its error is thrown instead of logged', async () => {
  const { lines, log } = recording();
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout');
  const before = timers();
  expect(await isDoneSoon('erase', Promise.resolve(), { log })).toBe(true);
  expect(timers()).toEqual(before);
  const failing = Promise.reject(new Error('nobody has this id'));
  await expect(isDoneSoon('erase', failing, { log })).rejects.toThrow('nobody has this id');
  expect(lines).toEqual([]);
});
