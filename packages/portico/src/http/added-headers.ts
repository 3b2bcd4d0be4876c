/**
 * Whether to add Portico's value of this response header to the application's value. If not,
 * Portico's value replaces it.
 *
 * `Access-Control-Expose-Headers` is added only if Portico's response has no
 * `Access-Control-Allow-Origin`. In that case, the CORS settings of the application decide which
 * origins are allowed.
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

/** Lists the headers that pages of other origins may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
