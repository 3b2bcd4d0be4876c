/** A console command failed. The user sees only the message, on one line. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}
