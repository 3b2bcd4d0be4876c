/** The status of exceptions that no listener of `Event.EXCEPTION` answers. */
export const ErrorHandler = {
  /** The status of an exception: its own `status` or `statusCode` when that is an error's, else 500. */
  resolveStatusCode(exception: unknown): number {
    if (!(exception instanceof Error)) return 500;
    const own =
      'status' in exception ? exception.status : 'statusCode' in exception ? exception.statusCode : undefined;
    return typeof own === 'number' && Number.isInteger(own) && own >= 400 && own <= 599 ? own : 500;
  },
} as const;
