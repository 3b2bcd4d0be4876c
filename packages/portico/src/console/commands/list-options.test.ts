import { expect, test } from 'vitest';
import type { ConsoleContext } from '../../application/console-context.ts';
import { readPage, readPerson, readTime, type PageOptions } from './list-options.ts';

const context = {
  fail(message: string): never {
    throw new Error(message);
  },
} as ConsoleContext;
const NOW = Date.UTC(2026, 0, 31, 12);

test.each<[given: PageOptions, read: ReturnType<typeof readPage>]>([
  [{}, {}],
  [{ limit: '10' }, { limit: 10 }],
  [{ after: 'x' }, { after: 'x' }],
  [
    { limit: '0', after: '' },
    { limit: 0, after: '' },
  ],
])('the page options %j', (given, read) => {
  expect(readPage(given)).toStrictEqual(read);
});

// The method that returns the page refuses NaN.
test.each(['', 'x', '-1', '1.5', '1e3', ' 1', '1 '])('the limit %j is not a number', (limit) => {
  expect(readPage({ limit })).toStrictEqual({ limit: Number.NaN });
});

test('a person is a provider and an id', () => {
  expect(readPerson(context, ['users', '42'])).toEqual({ provider: 'users', id: '42' });
});

test.each([[[]], [['users']], [['users', '42', '43']]])('%j is not a person', (words) => {
  expect(() => readPerson(context, words)).toThrow('--person needs two values');
});

test.each([
  ['30d', NOW - 30 * 86_400_000],
  ['45s', NOW - 45_000],
  ['2026-01-02', Date.UTC(2026, 0, 2)],
  ['2026-01-02T03:04Z', Date.UTC(2026, 0, 2, 3, 4)],
  ['2026-01-02T03:04:05Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
  ['2026-01-02T03:04:05.6Z', Date.UTC(2026, 0, 2, 3, 4, 5, 600)],
  ['2026-01-02T03:04:05.678Z', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
  ['2026-01-02T03:04:05+02:30', Date.UTC(2026, 0, 2, 0, 34, 5)],
  ['2026-01-02T03:04-01:00', Date.UTC(2026, 0, 2, 4, 4)],
])('the time %s', (text, time) => {
  expect(readTime(context, '--since', text, NOW)).toBe(time);
});

test.each([
  '',
  // It could mean seconds or days.
  '30',
  '2026',
  '2026-01',
  '2026-1-2',
  '2026-13-45',
  // These days do not exist.
  '2026-02-30',
  '2026-02-29T12:00Z',
  '2026-04-31T12:00:00+02:00',
  '02026-01-02',
  '2026-01-023',
  '2026-01-02T03Z',
  '2026-01-02T03:04',
  '2026-01-02T3:04Z',
  '2026-01-02T03:04:5Z',
  '2026-01-02T03:04:05.Z',
  '2026-01-02T03:04:05.6789Z',
  '2026-01-02T03:04Z0',
  '2026-01-02T03:04+1:00',
  '2026-01-02T03:04+0100',
  '2026-01-02 03:04Z',
  'yesterday',
])('the text %j is not a time', (text) => {
  expect(() => readTime(context, '--since', text, NOW)).toThrow('--since must be an age such as');
});
