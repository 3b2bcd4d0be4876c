/** An error that is answered with its own status; its message is for the log. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** 400 to 599. */
  readonly status: number;
  /** Sent with the answer, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** `status` is 400 to 599. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** How exceptions become answers when no listener of `Event.EXCEPTION` answers them. */
export const ErrorHandler = {
  /** The status of an exception: its own `status` or `statusCode` when that is an error's, else 500. */
  resolveStatusCode(exception: unknown): number {
    if (!(exception instanceof Error)) return 500;
    const own =
      'status' in exception ? exception.status : 'statusCode' in exception ? exception.statusCode : undefined;
    return typeof own === 'number' && Number.isInteger(own) && own >= 400 && own <= 599 ? own : 500;
  },
} as const;
