/**
 * Whether Portico adds its value of this response header to the application's value. Otherwise,
 * Portico's value replaces the application's value. `Access-Control-Expose-Headers` is added only
 * if Portico's response does not set `Access-Control-Allow-Origin`. In that case, the application's
 * CORS settings choose the allowed origins.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return isAddedTo(name, headers.has('access-control-allow-origin'));
}

/** Like `isAdded`. `allowsOrigin` is whether the response sets `Access-Control-Allow-Origin`. */
export function isAddedTo(name: string, allowsOrigin: boolean): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !allowsOrigin);
}

/** Lists the headers that pages of other origins may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
