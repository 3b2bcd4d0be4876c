import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import {
  ConfigurationError,
  getErrorCode,
  isConfigurationError,
  isOverloaded,
  OutOfRangeError,
  OverloadedError,
} from './errors.ts';
import { isError } from './is-error.ts';

test('errors of a second copy of the package are recognized', async () => {
  vi.resetModules();
  const copy = await import('./errors.ts');
  const overloaded = new copy.OverloadedError();
  expect(overloaded instanceof OverloadedError).toBe(false);
  expect(isOverloaded(overloaded)).toBe(true);
  expect(isConfigurationError(new copy.ConfigurationError([]))).toBe(true);
  expect(copy.isOverloaded(new OverloadedError())).toBe(true);
});

test('an error of a different class is not recognized, whatever its status', () => {
  expect(isOverloaded(Object.assign(new Error('elsewhere'), { status: 503 }))).toBe(false);
  expect(isOverloaded(new ConfigurationError([]))).toBe(false);
  expect(isOverloaded({ code: new OverloadedError().code })).toBe(false);
});

test('an error of another realm is an error, and so is one that inherits from Error', () => {
  expect(isError(runInNewContext('new TypeError("no")'))).toBe(true);
  expect(isError(Object.create(Error.prototype))).toBe(true);
  expect([isError({ message: 'no' }), isError(null)]).toEqual([false, false]);
});

test('an error has its name, and one line for each problem of the configuration', () => {
  const problems = ['a', 'b'].map((key) => ({ key, message: 'is missing' }));
  const configuration = new ConfigurationError(problems);
  expect(String(configuration)).toBe('ConfigurationError: a: is missing\nb: is missing');
  expect(String(new OverloadedError('full'))).toBe('OverloadedError: full');
  expect(String(new OutOfRangeError('no'))).toBe('RangeError: no');
});

test('the code of an error is a text', () => {
  expect(getErrorCode(Object.assign(new Error('no'), { code: 7 }))).toBeNull();
  expect(getErrorCode(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBe('ENOENT');
  expect(getErrorCode(new Error('no'))).toBeNull();
});
