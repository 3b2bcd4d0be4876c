/**
 * Whether Portico adds its value of this response header to the application's value. If not,
 * Portico's value replaces the application's value.
 *
 * Portico adds `Access-Control-Expose-Headers` only if its response has no
 * `Access-Control-Allow-Origin`. In that case, the application's CORS settings decide which origins
 * may read the response.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return isAddedTo(name, headers.has('access-control-allow-origin'));
}

/**
 * Like `isAdded`, but `allowsOrigin` says whether the response sets `Access-Control-Allow-Origin`.
 */
export function isAddedTo(name: string, allowsOrigin: boolean): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !allowsOrigin);
}

/** The CORS header that lists which response headers pages of other origins may read. */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
