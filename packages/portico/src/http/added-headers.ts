/**
 * Whether a response header is added to the application's value. Any other header replaces the
 * application's value. The header that lists the headers that pages may read is added if the
 * application's CORS chooses the allowed origins.
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
