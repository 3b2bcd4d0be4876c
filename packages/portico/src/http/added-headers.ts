/**
 * Returns true if Portico adds its value of this response header to the application's value.
 * Otherwise, Portico's value replaces it.
 *
 * Portico replaces `Access-Control-Expose-Headers` if its response sets
 * `Access-Control-Allow-Origin`. Otherwise, the CORS settings of the application decide which
 * origins may read the response.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return isAddedTo(name, headers.has('access-control-allow-origin'));
}

/** Like `isAdded`. `allowsOrigin`: the response sets `Access-Control-Allow-Origin`. */
export function isAddedTo(name: string, allowsOrigin: boolean): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !allowsOrigin);
}

/** The CORS header that lists the response headers that other origins may read. */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
