import { expect, test } from 'vitest';
import { secondsFresh } from './freshness.ts';

test.each([
  ['says nothing', {}, 3600],
  ['names its age in seconds', { 'cache-control': 'public, max-age=7200' }, 7200],
  ['was on its way for a while', { 'cache-control': 'max-age=7200', age: '1200' }, 6000],
  [
    'says one thing to caches of many people',
    { 'cache-control': 'max-age=60, s-maxage=7200' },
    7200,
  ],
  ['writes it in capitals, in quotes', { 'cache-control': 'Max-Age="7200"' }, 7200],
  ['may be kept for long', { 'cache-control': 'max-age=31536000, immutable' }, 86_400],
  ['may be kept for very long', { 'cache-control': `max-age=${'9'.repeat(400)}` }, 86_400],
  ['must not be kept', { 'cache-control': 'no-store' }, 300],
  ['must be asked for again', { 'cache-control': 'no-cache, max-age=7200' }, 300],
  ['says what is not a number', { 'cache-control': 'max-age=-1' }, 300],
  [
    'has an age that is as large as its lifetime',
    { 'cache-control': `max-age=${'9'.repeat(400)}`, age: '9'.repeat(400) },
    300,
  ],
  ['is older than it may become', { 'cache-control': 'max-age=600', age: '6000' }, 300],
  [
    'names a date',
    { date: 'Sun, 22 Nov 2026 12:00:00 GMT', expires: 'Sun, 22 Nov 2026 14:00:00 GMT' },
    7200,
  ],
  ['names a date that is over', { date: 'Sun, 22 Nov 2026 12:00:00 GMT', expires: '0' }, 300],
])('a response that %s (%j) is kept for %i seconds', (_, headers, seconds) => {
  expect(secondsFresh(headers)).toBe(seconds);
});
