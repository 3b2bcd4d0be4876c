import { canonicalAddress } from '../http/addresses.ts';

/**
 * Where a request comes from, as an IP address in the one way to write it; null when it is not known. Each proxy appends to
 * `X-Forwarded-For` whom it was asked by, so with so many trusted ones in front the entry that far from the end is true; what
 * stands before it is anybody's word. An entry there that is no address is one of a caller who would be somebody new with
 * every request, so it counts as the proxy itself.
 */
export function clientAddressOf(
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
