/** A console command cannot be carried out. The message is the one line that the user reads. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}
