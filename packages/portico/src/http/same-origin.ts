/**
 * Returns true if `Sec-Fetch-Site` says that a page of this origin sent the request. Browsers set
 * this header, and pages cannot change it.
 */
export function isSentFromHere(request: Request): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin';
}

/**
 * Returns false if a header shows that a page of another origin sent the request. `Origin` alone is
 * not enough: a page that sends no referrer, such as a page of the kit, submits forms with the
 * origin `null`. So `Sec-Fetch-Site` comes first.
 */
export function comesFromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const sentFrom = request.headers.get('origin');
  return sentFrom === null || sentFrom === 'null' || sentFrom === origin;
}
