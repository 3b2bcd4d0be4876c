/**
 * Returns true if `Accept` includes HTML and does not prefer JSON (RFC 9110 section 12.5.1).
 * Browsers send such a header. Programs that accept any type do not.
 */
export function prefersPage(accept: string | null): boolean {
  if (accept === null) return false;
  const qualities = new Map<string, number>();
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    qualities.set(type, quality === undefined ? 1 : Number(quality));
  }
  const page = qualities.get('text/html') ?? 0;
  return page > 0 && page >= (qualities.get('application/json') ?? 0);
}
