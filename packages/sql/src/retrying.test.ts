import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isUnavailable } from './failures.ts';
import type { Timer } from './opened.ts';
import { resolveLostCommit, retrying } from './retrying.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });
const CONFLICT = coded('40001');
const AWAY = coded('ECONNREFUSED');

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

describe('an attempt', () => {
  /** Fails with these errors, one at each attempt, and then succeeds. */
  async function retried(...errors: Error[]) {
    const events: string[] = [];
    const left = [...errors];
    const outcome = await retrying(
      async () => {
        events.push('try');
        const error = left.shift();
        if (error !== undefined) throw error;
        return 'done';
      },
      () => events.push('again'),
    ).catch((error: unknown) => error);
    return { outcome, events: events.join(' ') };
  }

  test('is repeated after a conflict and after the wrong name of a statement', async () => {
    for (const error of [CONFLICT, coded('26000')]) {
      expect(await retried(error)).toEqual({ outcome: 'done', events: 'try again try' });
    }
    expect(await retried()).toEqual({ outcome: 'done', events: 'try' });
  });

  test('is not repeated after another error', async () => {
    expect(await retried(AWAY)).toEqual({ outcome: AWAY, events: 'try' });
  });

  test('is made five times, and is then unavailable', async () => {
    const all = Array.from({ length: 5 }, () => CONFLICT);
    const { outcome, events } = await retried(...all);
    expect(events).toBe('try again try again try again try again try');
    expect(outcome).toMatchObject({
      message: expect.stringMatching(/^Other transactions kept/) as string,
      cause: CONFLICT,
    });
    expect(isUnavailable(outcome)).toBe(true);
    const both = new AggregateError([CONFLICT, AWAY]);
    expect((await retried(...all.map(() => both))).outcome).toBe(both);
  });
});

describe('a commit whose response was lost', () => {
  /** Asks a store that is unavailable until this many milliseconds have passed. */
  async function resolved(availableAt: number, within: number, error = AWAY) {
    const pauses: number[] = [];
    let now = 5000;
    const timer: Timer = {
      now: () => now,
      after(milliseconds, call) {
        pauses.push(milliseconds);
        now += milliseconds;
        queueMicrotask(call);
        return () => {};
      },
    };
    const committed = async () => {
      if (now < 5000 + availableAt) throw error;
      return true;
    };
    return { took: await resolveLostCommit(committed, within, timer), pauses };
  }

  // @shows AS-18.9
  test('is looked up with longer and longer pauses until the store responds', async () => {
    expect(await resolved(0, 30_000)).toEqual({ took: true, pauses: [] });
    expect(await resolved(2000, 30_000)).toEqual({
      took: true,
      pauses: [50, 100, 200, 400, 500, 500, 500],
    });
    vi.mocked(Math.random).mockReturnValue(1);
    expect((await resolved(2000, 30_000)).pauses).toEqual([100, 200, 400, 800, 1000]);
  });

  test('did not take effect if the store does not respond in time', async () => {
    expect(await resolved(Infinity, 350)).toEqual({ took: false, pauses: [50, 100, 200] });
    expect(await resolved(Infinity, 0)).toEqual({ took: false, pauses: [] });
    expect((await resolved(Infinity, 351)).pauses).toEqual([50, 100, 200, 400]);
  });

  test('is not looked up again after a mistake in the statement', async () => {
    const mistake = coded('42P01');
    await expect(resolved(Infinity, 30_000, mistake)).rejects.toBe(mistake);
  });
});
