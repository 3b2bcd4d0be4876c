/**
 * Determines the status of an error response if no listener of `Event.EXCEPTION` returns a
 * response.
 *
 * @example
 * const status = ErrorHandler.resolveStatusCode(exception);
 */
export const ErrorHandler = {
  /**
   * Returns the `status` or `statusCode` of the exception if it is from 400 to 599. Otherwise,
   * returns 500.
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
