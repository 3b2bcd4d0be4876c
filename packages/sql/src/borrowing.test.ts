import type { Timer } from './opened.ts';
import { describe, expect, test } from 'vitest';
import { Borrowing } from './borrowing.ts';
import { isUnavailable } from './failures.ts';

/** A pool that returns a connection only when the test tells it to. */
function createPool() {
  const asked: PromiseWithResolvers<string>[] = [];
  const back: string[] = [];
  const due = new Set<() => void>();
  const timer: Timer = {
    now: () => 0,
    after(_, call) {
      due.add(call);
      return () => due.delete(call);
    },
  };
  const take = () => {
    const waiting = Promise.withResolvers<string>();
    asked.push(waiting);
    return waiting.promise;
  };
  const borrowing = new Borrowing(timer, take, (client) => void back.push(client));
  const pass = () => {
    for (const call of due) call();
    due.clear();
  };
  return { borrowing, asked, back, due, pass };
}

const outcomeOf = (taking: Promise<string>) =>
  taking.catch((error: unknown) => (isUnavailable(error) ? 'unavailable' : error));

describe('a connection from the pool of the application', () => {
  // @shows AS-18.18
  test('may be awaited by 1,000 requests, and further ones are refused until one gets it', async () => {
    const { borrowing, asked } = createPool();
    const waiting = Array.from({ length: 1000 }, () => borrowing.take());
    expect(await outcomeOf(borrowing.take())).toBe('unavailable');
    expect(asked).toHaveLength(1000);
    asked[0]?.resolve('first');
    expect(await waiting[0]).toBe('first');
    const next = borrowing.take();
    asked[1000]?.resolve('next');
    expect(await next).toBe('next');
  });

  // @shows AS-18.18
  test('that arrives too late is returned at once, and frees its place for the next request', async () => {
    const { borrowing, asked, back, due, pass } = createPool();
    const late = Array.from({ length: 1000 }, () => outcomeOf(borrowing.take()));
    pass();
    expect(new Set(await Promise.all(late))).toEqual(new Set(['unavailable']));
    for (const [index, each] of asked.entries()) each.resolve(String(index));
    await expect.poll(() => back.length).toBe(1000);
    await borrowing.allBack();
    const next = borrowing.take();
    asked[1000]?.resolve('next');
    expect(await next).toBe('next');
    expect(due.size).toBe(0);
  });

  test('must be returned before the pool counts as released', async () => {
    const { borrowing, asked } = createPool();
    const taken = [borrowing.take(), borrowing.take()];
    for (const each of asked) each.resolve('one');
    await Promise.all(taken);
    let isLeft = false;
    const left = borrowing.allBack().then(() => (isLeft = true));
    borrowing.isBack();
    await Promise.resolve();
    expect(isLeft).toBe(false);
    borrowing.isBack();
    await left;
    const again = borrowing.take();
    asked[2]?.resolve('one');
    await again;
    borrowing.isBack();
    await borrowing.allBack();
  });

  test('that the pool cannot open fails with the error of the pool, and frees its place', async () => {
    const { borrowing, asked, due } = createPool();
    const refused = borrowing.take();
    asked[0]?.reject(new Error('no such host'));
    await expect(refused).rejects.toThrow('no such host');
    expect(due.size).toBe(0);
    await borrowing.allBack();
  });
});
