import { NotGivenError } from '@portico/sql';
import { expect, test } from 'vitest';
import { systemError } from '../../../../test/support/node-parts.ts';
import { notWritten } from './not-written.ts';
import { KeyRotationError } from './signing-key.ts';

const explain = (cause: unknown) => notWritten('/keys', cause, 'no key was created');

// @shows AS-11.12
test.each([
  ['ENOSPC', ': the disk is full'],
  ['EACCES', ': this user has no permission'],
  ['EROFS', ': it is mounted read-only'],
  ['EIO', ''],
])('a key directory that cannot be written is explained: %s', (code, meaning) => {
  const cause = systemError(code);
  const explained = explain(cause);
  expect(explained).toBeInstanceOf(KeyRotationError);
  expect(explained).toMatchObject({
    message: `The key directory /keys cannot be written (${code}${meaning}): no key was created`,
    cause,
  });
});

// @shows AS-11.22
test.each([
  [' (EPERM)', systemError('EPERM')],
  ['', undefined],
])('a key that root cannot give to the owner of the directory is explained: "%s"', (code, why) => {
  const cause = new NotGivenError('/keys', 4711, why);
  const explained = explain(cause);
  expect(explained).toBeInstanceOf(KeyRotationError);
  expect(explained).toMatchObject({
    message:
      'The key directory /keys belongs to uid 4711, but the new key cannot be given to that ' +
      `user${code}: no key was created. Run the command as that user`,
    cause,
  });
});

test('an error that is not of the file system stays as it is', () => {
  const error = new TypeError('a fault in the code');
  expect(explain(error)).toBe(error);
});
