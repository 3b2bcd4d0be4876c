/** An error that is answered with this status; its message is for the log alone. */
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

/** A console command cannot be carried out; the message is the one line that the person reads. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}

/** What a transaction's work may not do, and what to do instead. */
const TRANSACTION_REFUSALS = {
  inside:
    'This is inside of a transaction, which would wait for it, and it for the transaction: use the connection that the work was given',
  ended: 'The transaction has ended: await every statement before its work returns or throws',
  idle: 'The transaction was rolled back, since it waited for something else than its statements: do that before it, or after it',
  late: 'The transaction was rolled back, since it lasted too long: do less in it, or use `withoutTimeout()`',
} as const;

/** The work of a transaction does what it must not: a mistake of the application, whatever the engine. */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  /** It asked the store past its connection, came after the end, waited for something else, or took too long. */
  readonly reason: keyof typeof TRANSACTION_REFUSALS;

  /** Says in its message what to do instead. */
  constructor(reason: keyof typeof TRANSACTION_REFUSALS) {
    super(TRANSACTION_REFUSALS[reason]);
    this.reason = reason;
  }
}
