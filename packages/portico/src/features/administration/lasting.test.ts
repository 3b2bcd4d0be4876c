import type { Log } from '@portico/sql';
import { expect, test } from 'vitest';
import { isDoneSoon } from './lasting.ts';

function recording() {
  const lines: unknown[] = [];
  const write = (_: string, context: unknown) => void lines.push(context);
  const log: Log = { debug: write, info: write, warning: write, error: write };
  return { lines, log };
}

test('work that lasts is not waited for, goes on, and says in the log what goes wrong then', async () => {
  const { lines, log } = recording();
  const { promise, reject } = Promise.withResolvers<void>();
  expect(await isDoneSoon('erase', promise, { log, patience: 1 })).toBe(false);
  expect(lines).toEqual([]);
  const exception = new Error('the store is away');
  reject(exception);
  await promise.catch(() => {});
  expect(lines).toEqual([{ what: 'erase', exception }]);
});

test('work that is done in time is done, and what goes wrong in time is thrown and not logged', async () => {
  const { lines, log } = recording();
  expect(await isDoneSoon('erase', Promise.resolve(), { log })).toBe(true);
  const failing = Promise.reject(new Error('nobody has this id'));
  await expect(isDoneSoon('erase', failing, { log })).rejects.toThrow('nobody has this id');
  expect(lines).toEqual([]);
});
