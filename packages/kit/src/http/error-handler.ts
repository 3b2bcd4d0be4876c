/**
 * Chooses the status of an error response when no listener of `Event.EXCEPTION` provides a
 * response.
 */
export const ErrorHandler = {
  /**
   * Returns the `status` or `statusCode` of the exception if it is an error status, or else 500.
   */
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
