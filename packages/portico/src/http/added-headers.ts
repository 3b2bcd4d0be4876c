/**
 * Whether a header field of an answer is added to what the application has written into it; others replace that. Which headers pages may
 * read is added to where the answer leaves to the application's CORS which pages those are.
 */
export function isAdded(name: string, { headers }: Response): boolean {
  return name === 'vary' || (name === EXPOSED_HEADERS && !headers.has('access-control-allow-origin'));
}

/** The header that names what a page of another origin may read (CORS). */
export const EXPOSED_HEADERS = 'access-control-expose-headers';
