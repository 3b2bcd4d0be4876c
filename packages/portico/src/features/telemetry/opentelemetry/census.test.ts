import { describe, expect, test } from 'vitest';
import { Census, type CensusTimer } from './census.ts';

/** Returns a table of rows in the order of their ids. Every third row is revoked. */
function tableOf(size: number) {
  const ids = Array.from({ length: size }, (_, index) => String(index).padStart(8, '0'));
  const asked: number[] = [];
  return {
    asked,
    count: async (after: string, limit: number) => {
      asked.push(limit);
      const part = ids.slice(after === '' ? 0 : Number(after) + 1).slice(0, limit);
      const last = part.length < limit ? null : (part.at(-1) ?? null);
      return { living: part.filter((id) => Number(id) % 3 !== 0).length, last };
    },
  };
}

/** Returns a timer. Its time passes while the census pauses, and when the test calls `advance`. */
function createTimer(): CensusTimer & { advance: (milliseconds: number) => void; paused: number } {
  let now = 0;
  return {
    paused: 0,
    now: () => now,
    async pause(milliseconds) {
      this.paused += 1;
      now += milliseconds;
    },
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

describe('the count of active rows for telemetry', () => {
  test('covers a table of any size, in equal batches with pauses', async () => {
    for (const size of [0, 1, 4999, 5000, 5001, 23_456]) {
      const table = tableOf(size);
      const timer = createTimer();
      expect(await new Census(table.count, timer).latest()).toBe(size - Math.ceil(size / 3));
      expect(new Set(table.asked)).toEqual(new Set([5000]));
      expect(timer.paused).toBe(Math.floor(size / 5000));
    }
  });

  test('runs again after 30 seconds or ten times its own duration, whichever is longer', async () => {
    const small = tableOf(10);
    const timer = createTimer();
    const census = new Census(small.count, timer);
    await census.latest();
    timer.advance(29_999);
    await census.latest();
    expect(small.asked.length).toBe(1);
    timer.advance(1);
    await census.latest();
    expect(small.asked.length).toBe(2);

    const large = tableOf(50_000);
    const slow = new Census(large.count, timer);
    await slow.latest();
    const slices = large.asked.length;
    timer.advance(49_999);
    await slow.latest();
    expect(large.asked.length).toBe(slices);
    timer.advance(1);
    await slow.latest();
    expect(large.asked.length).toBeGreaterThan(slices);
  });

  test('is unknown while the store is down, and runs once for simultaneous calls', async () => {
    let isAway = true;
    let asked = 0;
    const timer = createTimer();
    const census = new Census(async () => {
      asked += 1;
      if (isAway) throw new Error('away');
      return { living: 7, last: null };
    }, timer);
    expect(await Promise.all([census.latest(), census.latest()])).toEqual([null, null]);
    expect(asked).toBe(1);
    isAway = false;
    expect(await census.latest()).toBe(null);
    timer.advance(30_000);
    expect(await Promise.all([census.latest(), census.latest()])).toEqual([7, 7]);
    expect(asked).toBe(2);
    isAway = true;
    timer.advance(30_000);
    await census.latest();
    expect(await census.latest()).toBe(null);
  });
});
