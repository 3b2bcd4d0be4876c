/**
 * Whether a response header is added to the application's value; other headers replace it. The list
 * of headers that pages may read is added when the response leaves the choice of origins to the
 * application's CORS.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !headers.has('access-control-allow-origin'));
}

/** The header that lists what a page of another origin may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
