import { getErrorCode, NotGivenError } from '@portico/sql';
import { KeyRotationError } from './signing-key.ts';

/**
 * Explains a file system error and what to do about it. `effect` says what was not done, for
 * example that no key was created. Returns any other error unchanged.
 */
export function notWritten(directory: string, cause: unknown, effect: string): unknown {
  if (cause instanceof NotGivenError) {
    const why = getErrorCode(cause.cause);
    return new KeyRotationError(
      `The key directory ${directory} belongs to uid ${cause.uid}, but the new key cannot be ` +
        `given to that user${why === null ? '' : ` (${why})`}: ${effect}. Run the command as ` +
        'that user',
      { cause },
    );
  }
  const code = getErrorCode(cause);
  if (code === null) return cause;
  return new KeyRotationError(
    `The key directory ${directory} cannot be written (${code}${WHAT_IT_MEANS[code] ?? ''}): ${effect}`,
    { cause },
  );
}

const WHAT_IT_MEANS: Readonly<Record<string, string>> = {
  ENOSPC: ': the disk is full',
  EFBIG: ': the file cannot grow',
  EDQUOT: ': the quota is used up',
  EROFS: ': it is mounted read-only',
  EACCES: ': this user has no permission',
  EPERM: ': this user has no permission, or the file system does not support hard links',
  ENOTSUP: ': its file system does not support hard links',
  EOPNOTSUPP: ': its file system does not support hard links',
};
