import { expect, test, vi } from 'vitest';
import {
  ConfigurationError,
  isConfigurationError,
  isOverloaded,
  OverloadedError,
} from './errors.ts';

test('errors of a second copy of the package are recognized', async () => {
  vi.resetModules();
  const copy = await import('./errors.ts');
  const overloaded = new copy.OverloadedError();
  expect(overloaded instanceof OverloadedError).toBe(false);
  expect(isOverloaded(overloaded)).toBe(true);
  expect(isConfigurationError(new copy.ConfigurationError([]))).toBe(true);
});

test('an error of a different class is not recognized, whatever its status', () => {
  expect(isOverloaded(Object.assign(new Error('elsewhere'), { status: 503 }))).toBe(false);
  expect(isOverloaded(new ConfigurationError([]))).toBe(false);
  expect(isOverloaded({ code: new OverloadedError().code })).toBe(false);
});
