import { OutOfRangeError } from '@portico/sql';
import { expect, test } from 'vitest';
import type { ConsoleContext } from '../../application/console-context.ts';
import { AccessError } from '../../errors.ts';
import { orFail } from './or-fail.ts';

const context = {
  fail(message: string): never {
    throw new Error(`failed: ${message}`);
  },
} as ConsoleContext;

test.each([
  new OutOfRangeError('The limit must be 1 to 1000'),
  new AccessError('No authorization has the id'),
])(
  'an error with a message for the caller ends the command with that message: %s',
  async (error) => {
    await expect(orFail(context, Promise.reject(error))).rejects.toThrow(
      `failed: ${error.message}`,
    );
  },
);

test('an internal error is rethrown unchanged, even if it is a RangeError', async () => {
  const fault = new RangeError('Invalid time value');
  await expect(orFail(context, Promise.reject(fault))).rejects.toBe(fault);
});
