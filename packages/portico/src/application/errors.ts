/**
 * Thrown if a console command fails. The user sees only the message, and the exit code is 1.
 *
 * @example
 * if (order === null) throw new ConsoleError('No order has this number');
 */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}
