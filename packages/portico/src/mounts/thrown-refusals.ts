import { BearerError, bearerErrorResponse } from '../index.ts';

/**
 * Gives every BearerError the properties that Express and Fastify read from an error. Without them,
 * an application without `bearerErrors` would respond with 500 if `token()` rejects a request.
 */
export function describeToFrameworks(): void {
  const property = (get: (response: Response) => unknown): PropertyDescriptor => ({
    // Make the property configurable, because this module may be loaded again during development.
    configurable: true,
    get(this: BearerError) {
      return get(bearerErrorResponse(this));
    },
  });
  const status = property((response) => response.status);
  Object.defineProperties(BearerError.prototype, {
    status,
    statusCode: status,
    headers: property(({ headers }) => {
      // The framework writes another body.
      headers.delete('content-type');
      return Object.fromEntries(headers);
    }),
  });
}
