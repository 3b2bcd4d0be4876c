import { describe, expect, test } from 'vitest';
import { basePathProblems, cookieNameBelow, strippedProblems } from './base-path.ts';

describe('a base path', () => {
  // @shows AS-2.17
  test.each([
    '',
    '/auth',
    '/a',
    '/tenants/one',
    '/v2.1/~auth_x',
    '/AUTH',
    '/...',
    '/auth.well-known',
  ])('may be %j', (value) => {
    expect(basePathProblems(value)).toEqual([]);
  });

  // @shows AS-2.17
  test.each([
    ['auth', ['must begin with /']],
    ['/', ['must not end with /; remove the slash at the end']],
    ['/auth/', ['must not end with /; remove the slash at the end']],
    ['/a//b', ['must not have an empty segment']],
    ['//evil.example', ['must not have an empty segment']],
    ['/a/../b', ['must not have a segment . or ..']],
    ['/./a', ['must not have a segment . or ..']],
    ['/..', ['must not have a segment . or ..']],
    ['/.well-known', ['must not be below /.well-known']],
    ['/.well-known/a', ['must not be below /.well-known']],
    ['/a?b', ['must not have a query']],
    ['/a#b', ['must not have a fragment']],
    ['/a%2Fb', ['must not be percent-encoded']],
  ])('may not be %j', (value, problems) => {
    expect(basePathProblems(value)).toEqual(problems);
  });

  // @shows AS-2.17
  test.each([
    '/a;Path',
    '/a b',
    '/a\\b',
    '/:a',
    '/*',
    '/{a}',
    '/(a)',
    '/ä',
    '/a\r\nb',
    '/a\n',
    '/@a',
    '/a,b',
  ])('may not be %j, because of an unsupported character', (value) => {
    const other = 'must have only letters, digits, - . _ and ~ between slashes';
    expect(basePathProblems(value)).toEqual([other]);
  });

  test('with several errors reports all of them', () => {
    expect(basePathProblems('a//../?#/')).toHaveLength(6);
  });

  // @shows AS-2.18
  test('cannot be marked as stripped by a proxy if it is empty', () => {
    expect(strippedProblems('/auth', true)).toEqual([]);
    expect(strippedProblems('', false)).toEqual([]);
    expect(strippedProblems('', true)).toHaveLength(1);
  });
});

// @shows AS-6.21
test('cookies of different base paths always have different names', () => {
  const names = ['', '/a', '/a/b', '/a_b', '/a.b', '/A'].map((basePath) =>
    cookieNameBelow(basePath, 'x'),
  );
  expect(new Set(names).size).toBe(names.length);
  expect(names[0]).toBe('x');
  for (const name of names) expect(name).toMatch(/^[\w.%~-]+$/);
});
