import { describe, expect, test } from 'vitest';
import type { Timer } from '@portico/sql';
import type { ReportProgress } from '../../application/console-context.ts';
import { withProgress } from './progress.ts';

/** A timer that moves only when the test moves it. */
function createTimer(): Timer & { advance(milliseconds: number): void; waiting(): number } {
  let now = 0;
  const calls = new Map<object, { readonly at: number; readonly call: () => void }>();
  return {
    now: () => now,
    after(milliseconds, call) {
      const key = {};
      calls.set(key, { at: now + milliseconds, call });
      return () => calls.delete(key);
    },
    advance(milliseconds) {
      const until = now + milliseconds;
      for (;;) {
        const [next] = [...calls].sort(([, one], [, other]) => one.at - other.at);
        if (next === undefined || next[1].at > until) break;
        calls.delete(next[0]);
        now = next[1].at;
        next[1].call();
      }
      now = until;
    },
    waiting: () => calls.size,
  };
}

const EMPTY = '\r\u{1b}[2K';

function shown(columns: number | null) {
  const timer = createTimer();
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const erase = <T>(work: (report: ReportProgress) => Promise<T>) =>
    withProgress('Erasing', write, columns, work, timer);
  return { timer, written, erase };
}

describe('progress on a terminal', () => {
  test('is one line that is rewritten at most ten times a second and removed at the end', async () => {
    const { timer, written, erase } = shown(80);
    const result = await erase(async (report) => {
      for (let done = 1; done <= 1000; done += 1) {
        report(`${done} rows`);
        timer.advance(1);
      }
      return 'done';
    });
    expect(result).toBe('done');
    expect(written[0]).toBe(`${EMPTY}Erasing (0 s)`);
    expect(written.at(-2)).toMatch(/Erasing: \d+ rows \(1 s\)$/);
    expect(written.at(-1)).toBe(EMPTY);
    expect(written.length).toBeGreaterThan(8);
    expect(written.length).toBeLessThan(15);
    expect(written.join('')).not.toContain('\n');
    expect(timer.waiting()).toBe(0);
  });

  test('shows the elapsed time while nothing is reported', async () => {
    const { timer, written, erase } = shown(80);
    await erase(async () => timer.advance(3000));
    expect(written).toEqual([
      ...['0 s', '1 s', '2 s', '3 s'].map((passed) => `${EMPTY}Erasing (${passed})`),
      EMPTY,
    ]);
  });

  test('is cut to the width of the terminal, without terminal control characters', async () => {
    const { written, erase } = shown(20);
    await erase(async (report) => report('\u{1b}[31mred\n\u{202e}turned around', { atOnce: true }));
    expect(written[1]).toBe(`${EMPTY}Erasing: ?[31mred??`);
  });
});

describe('progress without a terminal', () => {
  test('is a line every five seconds, and nothing for shorter work', async () => {
    const { timer, written, erase } = shown(null);
    await erase(async (report) => {
      report('1 row');
      timer.advance(4999);
      expect(written).toEqual([]);
      timer.advance(1);
      expect(written).toEqual(['Erasing: 1 row (5 s)\n']);
      report('2 rows');
      timer.advance(5000);
    });
    expect(written).toEqual(['Erasing: 1 row (5 s)\n', 'Erasing: 2 rows (10 s)\n']);
  });

  test('is written at once before a step that may block the process', async () => {
    const { written, erase } = shown(null);
    await erase(async (report) => report('step 1 of 2', { atOnce: true }));
    expect(written).toEqual(['Erasing: step 1 of 2 (0 s)\n']);
  });
});

test.each([80, null])(
  'progress ends when the work fails, and later reports show nothing: %j',
  async (columns) => {
    const { timer, written, erase } = shown(columns);
    let late: ReportProgress = () => {};
    const failed = erase(async (report) => {
      late = report;
      throw new Error('the store is away');
    });
    await expect(failed).rejects.toThrow('the store is away');
    const { length } = written;
    timer.advance(10_000);
    late('more');
    expect(written).toHaveLength(length);
    expect(timer.waiting()).toBe(0);
  },
);
