/** An error that the user can correct. Only its message is shown, without a stack trace. */
export class Failure extends Error {
  override name = 'Failure';
  /**
   * The exit code of the program: 1 if a step failed, 2 if the input is invalid, 130 if the user
   * canceled.
   */
  readonly code: number;

  constructor(message: string, code: 1 | 2 | 130 = 2) {
    super(message);
    this.code = code;
  }
}
