import { describe, expect, test } from 'vitest';
import { TooManyRegistrationsError } from '../../errors.ts';
import { Replacing } from './replacing.ts';

const START = 1_800_000_000_000;
const LIMITS = { ofOneNetwork: 2, unused: 0, period: 10_000 };

/**
 * Counts a replacement at a time after the start. Returns null if the limit allows it. Otherwise,
 * returns after how many seconds the next replacement is possible.
 */
function counting() {
  let now = START;
  const replacing = new Replacing(LIMITS, () => now);
  return (network: string, milliseconds = 0): number | null => {
    now = START + milliseconds;
    try {
      replacing.count(network);
      return null;
    } catch (error) {
      if (!(error instanceof TooManyRegistrationsError) || error.of !== 'network') throw error;
      return error.retryAfter;
    }
  };
}

describe('The limit on registration updates of a network', () => {
  test('counts for one period, and then starts again', () => {
    const count = counting();
    expect([count('a'), count('a', 1000), count('a', 1000), count('b', 1000)]).toEqual([
      null,
      null,
      9,
      null,
    ]);
    expect([count('a', 9999), count('a', 10_000), count('a', 10_000), count('a', 10_000)]).toEqual([
      1,
      null,
      null,
      10,
    ]);
  });

  test('starts again after the clock was set back', () => {
    const count = counting();
    expect([count('a'), count('a'), count('a')]).toEqual([null, null, 10]);
    expect(count('a', -1)).toBeNull();
  });

  test('is counted for 10,000 networks, and the one that started longest ago is dropped', () => {
    const count = counting();
    const all = (from: number, to: number) => {
      for (let number = from; number < to; number += 1) expect(count(`${number}`)).toBeNull();
    };
    all(0, 10_000);
    // No network was forgotten, so these are the second replacements.
    all(0, 10_000);
    expect([count('0'), count('1'), count('9999')]).toEqual([10, 10, 10]);
    expect(count('10000')).toBeNull();
    expect([count('1'), count('9999')]).toEqual([10, 10]);
    expect(count('0')).toBeNull();
    expect([count('2'), count('1')]).toEqual([10, null]);
  });

  test('is kept for a network whose period has just started again', () => {
    const count = counting();
    for (let number = 0; number < 10_000; number += 1) count(`${number}`);
    expect([count('0', 10_000), count('0', 10_000), count('more', 10_000)]).toEqual([
      null,
      null,
      null,
    ]);
    expect(count('0', 10_000)).toBe(10);
  });
});
