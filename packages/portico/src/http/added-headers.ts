/**
 * Whether a response header is added to the application's value. All other headers replace the
 * application's value. `Access-Control-Expose-Headers` is added if Portico's response does not set
 * `Access-Control-Allow-Origin`, because then the application's CORS chooses the allowed origins.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return isAddedTo(name, headers.has('access-control-allow-origin'));
}

/** Like `isAdded`. `allowsOrigin` is whether the response itself chooses the allowed origins. */
export function isAddedTo(name: string, allowsOrigin: boolean): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !allowsOrigin);
}

/** The header that lists the headers that pages of other origins may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
