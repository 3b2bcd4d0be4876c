import { expect, test } from 'vitest';
import { secondsFresh } from './freshness.ts';

test.each([
  ['has no cache headers', {}, 3600],
  ['has a max-age', { 'cache-control': 'public, max-age=7200' }, 7200],
  ['has an age', { 'cache-control': 'max-age=7200', age: '1200' }, 6000],
  [
    'has a different max-age for shared caches',
    { 'cache-control': 'max-age=60, s-maxage=7200' },
    7200,
  ],
  ['has a max-age in capitals and quotes', { 'cache-control': 'Max-Age="7200"' }, 7200],
  ['has a long max-age', { 'cache-control': 'max-age=31536000, immutable' }, 86_400],
  ['has a max-age of 400 digits', { 'cache-control': `max-age=${'9'.repeat(400)}` }, 86_400],
  ['has no-store', { 'cache-control': 'no-store' }, 300],
  ['has no-cache', { 'cache-control': 'no-cache, max-age=7200' }, 300],
  ['has a max-age with a unit', { 'cache-control': 'max-age=7200s' }, 300],
  ['has a max-age that begins with a letter', { 'cache-control': 'max-age=x7200' }, 300],
  ['has a negative max-age', { 'cache-control': 'max-age=-1' }, 300],
  [
    'has an age that is as large as its max-age',
    { 'cache-control': `max-age=${'9'.repeat(400)}`, age: '9'.repeat(400) },
    300,
  ],
  ['has an age above its max-age', { 'cache-control': 'max-age=600', age: '6000' }, 300],
  [
    'has an expiry date',
    { date: 'Sun, 22 Nov 2026 12:00:00 GMT', expires: 'Sun, 22 Nov 2026 14:00:00 GMT' },
    7200,
  ],
  ['has the expiry date 0', { date: 'Sun, 22 Nov 2026 12:00:00 GMT', expires: '0' }, 300],
])('a response that %s (%j) is kept for %i seconds', (_, headers, seconds) => {
  expect(secondsFresh(headers)).toBe(seconds);
});
