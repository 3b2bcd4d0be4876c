/** An error that is answered with this status. Only the log gets its message. */
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
