import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { returnPath } from './return-path.ts';

describe('the return path after sign-in', () => {
  test.each(['/', '/a/b?c=d#e', '/oauth/authorize?request_id=abc', '/%2f%2fevil.example', '/a//b'])(
    '%j is kept',
    (path) => {
      expect(returnPath(path)).toBe(path);
    },
  );

  test.each([null, '', '//evil.example', '/.//evil.example', 'https://evil.example/'])(
    '%j is replaced by the given home path',
    (path) => {
      expect(returnPath(path, '/app')).toBe('/app');
    },
  );

  test('is percent-encoded where a header cannot contain its characters', () => {
    expect(returnPath('/中?q=ä#é')).toBe('/%E4%B8%AD?q=%C3%A4#%C3%A9');
  });

  test.each([
    null,
    '',
    'a',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/a\0b',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '/\r/evil.example',
    '/a\u007fb',
    'http://',
    '?return=/',
    '#',
  ])('%j is replaced by /', (path) => {
    expect(returnPath(path)).toBe('/');
  });

  test('that is not a string is replaced by /', () => {
    // A body parser can make such a value from a form or JSON.
    const values: readonly unknown[] = [undefined, 1, ['/a'], { toString: 1 }];
    for (const value of values) expect(returnPath(value)).toBe('/');
  });

  test('keeps the browser on the same host for every input', () => {
    const parts = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      ':',
      '@',
      '?',
      '#',
      '\t',
      '\n',
      ' ',
      'a',
      '%2f',
      'https:',
      'evil.example',
    );
    const hostile = fc.array(parts, { maxLength: 8 }).map((found) => found.join(''));
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string(), fc.webUrl()), (given) => {
        const path = returnPath(given);
        expect(path.startsWith('/')).toBe(true);
        expect(new URL(path, 'https://here.example/login').origin).toBe('https://here.example');
      }),
      { numRuns: 2000 },
    );
  });
});
