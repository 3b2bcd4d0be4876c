import { describe, expect, test } from 'vitest';
import { ReplayEventLimit } from './replay-event-limit.ts';

function createTelling() {
  let now = 1_000_000_000_000;
  const limit = new ReplayEventLimit(() => now);
  const isRecorded = (authorization: string) => limit.admits(authorization);
  return {
    passes: (milliseconds: number) => {
      now += milliseconds;
    },
    isRecorded,
    /** Returns how many of these replays are reported. */
    told: (authorization: string, replays: number) =>
      Array.from({ length: replays }, () => isRecorded(authorization)).filter(Boolean).length,
  };
}

describe('replays that ended nothing', () => {
  test('are reported at most five times a minute for each authorization', () => {
    const { told } = createTelling();
    expect([told('one', 20), told('another', 4), told('another', 4), told('one', 20)]).toEqual([
      5, 4, 1, 0,
    ]);
  });

  test('are reported again one minute after the first one', () => {
    const { told, passes } = createTelling();
    expect(told('one', 4)).toBe(4);
    passes(59_999);
    expect(told('one', 4)).toBe(1);
    passes(1);
    expect(told('one', 20)).toBe(5);
  });

  test('are reported again after the clock was set back by a minute', () => {
    const { told, passes } = createTelling();
    expect(told('one', 20)).toBe(5);
    passes(-59_999);
    expect(told('one', 20)).toBe(0);
    passes(-1);
    expect(told('one', 20)).toBe(5);
  });

  test('are counted for 10,000 authorizations, and the one reported longest ago is dropped', () => {
    const { told, isRecorded } = createTelling();
    expect([told('one', 20), told('another', 4)]).toEqual([5, 4]);
    for (let count = 2; count < 10_000; count += 1) isRecorded(`other ${count}`);
    expect([told('one', 1), told('another', 1)]).toEqual([0, 1]);
    for (const more of ['one more', 'two more']) isRecorded(more);
    expect([told('another', 1), told('one', 1)]).toEqual([0, 1]);
  });
});
