/** Chooses the status of exceptions that no listener of `Event.EXCEPTION` answers. */
export const ErrorHandler = {
  /**
   * The status of an exception: its `status` or `statusCode` if that is an error status, otherwise
   * 500.
   */
  resolveStatusCode(exception: unknown): number {
    if (!(exception instanceof Error)) return 500;
    const own =
      'status' in exception ? exception.status : 'statusCode' in exception ? exception.statusCode : undefined;
    return typeof own === 'number' && Number.isInteger(own) && own >= 400 && own <= 599 ? own : 500;
  },
} as const;
