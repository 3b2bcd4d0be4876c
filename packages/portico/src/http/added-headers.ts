/**
 * Whether a response header is added to the application's value. Any other header replaces the
 * application's value. The header that lists the headers that pages may read is added if the
 * application's CORS chooses the allowed origins.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return (
    name === 'vary' || (name === EXPOSED_HEADERS && !headers.has('access-control-allow-origin'))
  );
}

/** The header that lists the headers that pages of other origins may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
