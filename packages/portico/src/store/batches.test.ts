import { expect, test, vi } from 'vitest';
import { inBatches, inSteps, pauseAfter } from './batches.ts';

test('batches run until nothing is left, with a report and an equally long pause after each', async () => {
  const did: unknown[] = [];
  const left = [3, 0, 4];
  const now = vi.spyOn(performance, 'now');
  try {
    let time = 1000;
    now.mockImplementation(() => time);
    const total = await inBatches(
      async () => {
        const count = left.shift() ?? 0;
        did.push(count);
        time += 10 + count;
        return { count, more: left.length > 0 };
      },
      (count) => did.push(`${count} so far`),
      async (took) => void did.push(`after ${took} ms`),
    );
    expect(total).toBe(7);
  } finally {
    now.mockRestore();
  }
  expect(did).toEqual([3, '3 so far', 'after 13 ms', 0, '3 so far', 'after 10 ms', 4]);
});

test('a single batch has no report and no pause', async () => {
  const never = () => expect.unreachable();
  expect(await inBatches(async () => ({ count: 2, more: false }), never, never)).toBe(2);
});

test('the report of a batch is optional', async () => {
  const left = [1, 2];
  const batch = async () => ({ count: left.shift() ?? 0, more: left.length > 0 });
  expect(await inBatches(batch)).toBe(3);
});

test('steps continue after the last key of each step until no key follows', async () => {
  const left = [
    { ended: 2, last: 'b' },
    { ended: 0, last: 'd' },
    { ended: 3, last: null },
  ];
  const did: unknown[] = [];
  const step = async (after: string) => {
    did.push(after);
    return left.shift() ?? { ended: 99, last: null };
  };
  expect(await inSteps(step, (count) => did.push(count))).toBe(5);
  expect(did).toEqual(['', 2, 'b', 2, 'd']);
});

test('a pause is as long as the batch took, at most half a second', () => {
  expect([20, 500, 60_000].map(pauseAfter)).toEqual([20, 500, 500]);
});
