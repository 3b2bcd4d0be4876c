/** Whether the browser says that a page of this origin sent the request. No page can forge this header. */
export function isSentFromHere(request: Request): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin';
}

/**
 * Whether nothing says that another site sent the request. `Sec-Fetch-Site` goes first: a page without referrer, as those of
 * the kit are, sends its forms with the origin `null`.
 */
export function comesFromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const sentFrom = request.headers.get('origin');
  return sentFrom === null || sentFrom === 'null' || sentFrom === origin;
}
