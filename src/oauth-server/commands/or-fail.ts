import type { ConsoleContext } from '../../host/contracts.ts';
import { RegistrationError } from '../errors.ts';

/** What was asked for, or the end of the command with the one line that says why not. */
export async function orFail<T>(context: ConsoleContext, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof RegistrationError || error instanceof RangeError) return context.fail(error.message);
    throw error;
  }
}
