/**
 * Whether the header `Sec-Fetch-Site` says that a page of this origin sent the request. Browsers
 * set this header, and pages cannot change it.
 */
export function isSentFromHere(request: Request): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin';
}

/**
 * Whether the request may come from a page of this origin. Returns false if a header shows that a
 * page of another origin sent the request. Reads `Sec-Fetch-Site` if the browser sent it. `Origin`
 * alone is not enough: pages that send no referrer, such as the kit's pages, submit their forms
 * with the origin `null`.
 */
export function comesFromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const sentFrom = request.headers.get('origin');
  return sentFrom === null || sentFrom === 'null' || sentFrom === origin;
}
