/** An error that the user can correct. Its message is shown without a stack. */
export class Failure extends Error {
  override name = 'Failure';
  /** The exit code: 1 if a step failed, 2 if the input is wrong, 130 if the user cancelled. */
  readonly code: number;

  constructor(message: string, code: 1 | 2 | 130 = 2) {
    super(message);
    this.code = code;
  }
}
