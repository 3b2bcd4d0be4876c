import { describe, expect, test } from 'vitest';
import { codeWithin, getName } from './causes.ts';

/** Returns an error that has `depth` errors without a code around it. */
function buried(depth: number): unknown {
  let error: unknown = Object.assign(new Error('a secret'), { code: 'ECONNREFUSED' });
  for (let above = 0; above < depth; above += 1) error = new Error('above', { cause: error });
  return error;
}

describe('the code of an error', () => {
  test.each([
    [0, 'ECONNREFUSED'],
    [4, 'ECONNREFUSED'],
    [5, null],
  ])('is found below %d other errors', (depth, code) => {
    expect(codeWithin(buried(depth))).toBe(code);
  });

  test('is null for an error that is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(codeWithin(error)).toBe(null);
  });

  test.each(['a secret', 'EBAD ', ' EBAD', 7, ''])('is not %j', (code) => {
    expect(codeWithin(Object.assign(new Error('no'), { code }))).toBe(null);
  });

  test('is its name in the log, or the name of its class if it has no code', () => {
    expect(getName(buried(1))).toBe('ECONNREFUSED');
    expect(getName(new TypeError('a secret'))).toBe('TypeError');
    expect(getName({ name: 'Error', code: 7 })).toBe(null);
  });

  test.each(['a secret', '(Error)', 'Error '])(
    'is never replaced by the invalid class name %j',
    (name) => {
      expect(getName(Object.assign(new Error('no'), { name }))).toBe(null);
    },
  );
});
