import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { throttleLog } from './throttle-log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a repeated event is logged at once, and then once a second with a count', () => {
  const told: number[] = [];
  const happens = throttleLog((times) => told.push(times));
  happens();
  expect(told).toEqual([1]);
  for (let tenths = 0; tenths < 25; tenths += 1) {
    for (let count = 0; count < 100; count += 1) happens();
    vi.advanceTimersByTime(100);
  }
  expect(told).toEqual([1, 1000, 1000]);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual([1, 1000, 1000, 500]);
  happens();
  expect(told).toEqual([1, 1000, 1000, 500, 1]);
  vi.advanceTimersByTime(10_000);
  expect(told).toHaveLength(5);
});
