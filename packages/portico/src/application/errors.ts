/** Thrown if a console command fails. The user sees only the message, on one line. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}
