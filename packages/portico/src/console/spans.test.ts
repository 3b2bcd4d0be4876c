import { expect, test } from 'vitest';
import { isDay, readSpan, secondsIn } from './spans.ts';

const context = {
  fail(message: string): never {
    throw new Error(message);
  },
};

test.each([
  ['0', 0],
  ['90', 90],
  ['45s', 45],
  ['90m', 5400],
  ['12h', 43_200],
  ['30d', 2_592_000],
  ['2w', 1_209_600],
  ['1'.repeat(15), 111_111_111_111_111],
])('the duration %s is %i seconds', (text, seconds) => {
  expect(secondsIn(text)).toBe(seconds);
  expect(readSpan(context, '--overlap', text)).toBe(seconds);
});

test.each(['', 'd', '-5', '1.5h', '1y', '1D', ' 1d', '1d ', '1d2h', 'x1d', '1'.repeat(16)])(
  'the text %j is not a duration, and ends the command with the name of the option',
  (text) => {
    expect(secondsIn(text)).toBeNull();
    expect(() => readSpan(context, '--overlap', text)).toThrow(
      '--overlap must be a duration such as 30d, 12h, 90m or 45s, or a number of seconds',
    );
  },
);

test.each(['2026-01-31', '2028-02-29', '0001-01-01'])('%s is a day', (text) => {
  expect(isDay(text)).toBe(true);
});

test.each([
  '',
  '2026',
  '2026-01',
  '2026-1-31',
  '2026-02-29',
  '2026-13-01',
  '2026-01-00',
  '2026-01-31T00:00:00.000Z',
  '+012026-01-31',
  ' 2026-01-31',
])('%j is not a day', (text) => {
  expect(isDay(text)).toBe(false);
});
