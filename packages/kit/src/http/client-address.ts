import { canonicalAddress } from 'portico/extension';

/**
 * Where a request comes from, as a canonical IP address; null when it is not known. Each proxy appends the address that it was
 * called from to `X-Forwarded-For`. So behind N trusted proxies the Nth entry from the end is true, and what stands before it may
 * be made up. When that entry is no address, the connection's counts: otherwise a caller could be somebody new with every request.
 */
export function resolveClientAddress(
  request: Request,
  connectedFrom: string | null,
  trustedProxies: number,
): string | null {
  const connection = connectedFrom === null ? null : canonicalAddress(connectedFrom);
  if (trustedProxies === 0) return connection;
  // Several header fields arrive as one, joined by commas (RFC 9110 section 5.3).
  const forwarded = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const entry = forwarded.at(-trustedProxies);
  return (entry === undefined ? null : canonicalAddress(entry)) ?? connection;
}
