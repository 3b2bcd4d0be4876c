/**
 * Whether Portico's value of this response header is added to the application's value. If not,
 * Portico's value replaces the application's value.
 *
 * `Access-Control-Expose-Headers` is added only if Portico's response has no
 * `Access-Control-Allow-Origin`. Without that header, the application's own CORS settings decide
 * which origins may read the response.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return isAddedTo(name, headers.has('access-control-allow-origin'));
}

/**
 * Like `isAdded`, for a response that sets `Access-Control-Allow-Origin` if `allowsOrigin` is true.
 */
export function isAddedTo(name: string, allowsOrigin: boolean): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !allowsOrigin);
}

/** The header that lists which response headers a page of another origin may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
