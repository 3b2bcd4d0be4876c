import { OutOfRangeError } from '@portico/sql';
import type { ConsoleContext } from '../../application/console-context.ts';
import { AccessError, RegistrationError } from '../../errors.ts';
import { KeyRotationError } from '../../keys/signing-key.ts';

/**
 * Returns the result of an operation. For an error of these classes, prints the reason on one line
 * and ends the command.
 */
export async function orFail<T>(
  context: ConsoleContext,
  result: Promise<T>,
  expected: readonly (new (...values: never) => Error)[] = KNOWN,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (expected.some((kind) => error instanceof kind))
      return context.fail((error as Error).message);
    throw error;
  }
}

/** The messages of these errors tell the operator what to do. */
const KNOWN = [RegistrationError, AccessError, KeyRotationError, OutOfRangeError];
