import type { ConsoleContext } from '../../../host/contracts.ts';
import { RegistrationError } from '../../errors.ts';

/** The result, or the end of the command with one line that says why there is none. */
export async function orFail<T>(context: ConsoleContext, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof RegistrationError || error instanceof RangeError) return context.fail(error.message);
    throw error;
  }
}
