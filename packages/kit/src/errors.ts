/**
 * An error that determines the status of the response. The message appears only in the log.
 *
 * @example
 * throw new HttpError(404, 'No order has this number');
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** The HTTP status of the response, from 400 to 599. */
  readonly status: number;
  /** Headers to add to the response, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** `status` must be from 400 to 599. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
