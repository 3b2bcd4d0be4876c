import { canonicalAddress } from 'portico/extension';

/**
 * Returns the client's IP address in canonical form, or null if it is unknown. Each proxy appends
 * its caller's address to `X-Forwarded-For`. With N trusted proxies, the Nth entry from the end is
 * therefore correct, and earlier entries may be forged. If the Nth entry is missing or is not an
 * address, returns the address of the connection. Otherwise, a client could send a different text
 * with each request and look like a new client each time.
 */
export function resolveClientAddress(
  request: Request,
  connectedFrom: string | null,
  trustedProxies: number,
): string | null {
  const connection = connectedFrom === null ? null : canonicalAddress(connectedFrom);
  if (trustedProxies === 0) return connection;
  // If the header was sent several times, `get` joins its values with commas (RFC 9110 section
  // 5.3).
  const forwarded = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const entry = forwarded.at(-trustedProxies);
  return (entry === undefined ? null : canonicalAddress(entry)) ?? connection;
}
