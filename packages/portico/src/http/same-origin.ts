/**
 * Whether the browser reports in `Sec-Fetch-Site` that a page of this origin sent the request.
 * Pages cannot forge this header.
 */
export function isSentFromHere(request: Request): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin';
}

/**
 * Returns false if a header shows that another site sent the request. Uses `Sec-Fetch-Site` if the
 * browser sent it. `Origin` alone is not enough: pages without a referrer, for example the pages of
 * the kit, send their forms with the origin `null`.
 */
export function comesFromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const sentFrom = request.headers.get('origin');
  return sentFrom === null || sentFrom === 'null' || sentFrom === origin;
}
