/**
 * Whether the browser says that a page of this origin sent the request. Pages cannot forge this
 * header.
 */
export function isSentFromHere(request: Request): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin';
}

/**
 * False if anything says that another site sent the request. `Sec-Fetch-Site` comes first, because
 * a page without referrer, such as those of the kit, sends its forms with the origin `null`.
 */
export function comesFromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const sentFrom = request.headers.get('origin');
  return sentFrom === null || sentFrom === 'null' || sentFrom === origin;
}
