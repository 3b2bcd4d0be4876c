/**
 * Where a request comes from. Each proxy appends to `X-Forwarded-For` whom it was asked by, so with so many trusted ones
 * in front the entry that far from the end is true; what stands before it is anybody's word.
 */
export function clientAddressOf(
  request: Request,
  connectedFrom: string | null,
  trustedProxies: number,
): string | null {
  if (trustedProxies === 0) return connectedFrom;
  const forwarded = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return forwarded.at(-trustedProxies) ?? connectedFrom;
}
