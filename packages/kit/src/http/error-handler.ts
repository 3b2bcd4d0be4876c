/** Chooses the response status when no `Event.EXCEPTION` listener provides a response. */
export const ErrorHandler = {
  /** Returns the exception's `status` or `statusCode` if that is an error status, otherwise 500. */
  resolveStatusCode(exception: unknown): number {
    if (!(exception instanceof Error)) return 500;
    const own =
      'status' in exception
        ? exception.status
        : 'statusCode' in exception
          ? exception.statusCode
          : undefined;
    return typeof own === 'number' && Number.isInteger(own) && own >= 400 && own <= 599 ? own : 500;
  },
} as const;
