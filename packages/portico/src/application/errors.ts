/** A console command cannot be carried out; the message is the one line that the person reads. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}
