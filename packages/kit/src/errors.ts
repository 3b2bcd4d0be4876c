/** An error that sets the response's status. Its message appears only in the log. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** 400 to 599. */
  readonly status: number;
  /** Sent with the response, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** `status` is 400 to 599. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
