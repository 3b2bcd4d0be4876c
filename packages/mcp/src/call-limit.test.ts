import { expect, test } from 'vitest';
import { CallLimit } from './call-limit.ts';

const START = 1_800_000_000_000;

function limited(perMinute: number) {
  let now = START;
  const limit = new CallLimit(perMinute, () => now);
  return { take: limit.take.bind(limit), pass: (seconds: number) => void (now += seconds * 1000) };
}

test('a caller may make all calls of a minute at once, and then one more as each is restored', () => {
  const { take, pass } = limited(6);
  for (let call = 0; call < 6; call += 1) expect(take('a', 1)).toBe(0);
  expect(take('a', 1)).toBe(10_000);
  pass(9);
  expect(take('a', 1)).toBe(1000);
  pass(0.999);
  expect(take('a', 1)).toBe(1);
  pass(0.001);
  expect(take('a', 1)).toBe(0);
  expect(take('a', 1)).toBe(10_000);
});

test('a caller that has been idle for an hour may make no more calls than after a minute', () => {
  const { take, pass } = limited(6);
  take('a', 1);
  pass(3600);
  for (let call = 0; call < 6; call += 1) expect(take('a', 1)).toBe(0);
  expect(take('a', 1)).toBe(10_000);
});

test('every limit allows exactly as many calls as it says', () => {
  const allowed = (perMinute: number) => {
    const { take } = limited(perMinute);
    return Array.from({ length: perMinute + 1 }, () => take('a', 1)).filter((wait) => wait === 0);
  };
  const limits = Array.from({ length: 300 }, (_, index) => index + 1);
  expect(limits.map((each) => allowed(each).length)).toEqual(limits);
});

test('a refused call costs nothing, and each caller has a separate limit', () => {
  const { take, pass } = limited(1);
  expect(take('a', 1)).toBe(0);
  for (let call = 0; call < 100; call += 1) expect(take('a', 1)).toBe(60_000);
  expect(take('b', 1)).toBe(0);
  pass(60);
  expect(take('a', 1)).toBe(0);
});

test('all calls of a batch are counted, even if the batch is larger than the limit', () => {
  const { take, pass } = limited(6);
  expect(take('a', 4)).toBe(0);
  expect(take('a', 4)).toBe(20_000);
  expect(take('a', 2)).toBe(0);
  pass(60);
  expect(take('a', 100)).toBe(0);
  expect(take('a', 1)).toBe(950_000);
  pass(950);
  expect(take('a', 1)).toBe(0);
  expect(take('a', 1)).toBe(10_000);
});

test('after the clock is set back, no caller is locked out', () => {
  const { take, pass } = limited(2);
  pass(3600);
  expect([take('a', 1), take('a', 1)]).toEqual([0, 0]);
  pass(-7200);
  expect(take('a', 1)).toBe(0);
});

test('the least recent caller is forgotten if there are too many', () => {
  const { take } = limited(1);
  for (let caller = 0; caller <= 10_000; caller += 1) take(`caller ${caller}`, 1);
  expect(take('caller 0', 1)).toBe(0);
  expect(take('caller 10000', 1)).toBe(60_000);
});
