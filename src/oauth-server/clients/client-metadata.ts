import type { Client } from '../store/client.ts';
import { PRIVATE_KEY_JWT } from './credentials.ts';

/** How a client proves itself, how it asks, and what it demands, by the field names of RFC 7591 section 2, RFC 9126 section 6 and RFC 9449 section 5.2. */
export function authenticationMetadata({
  public: isPublic,
  keys,
  pushesRequests,
  dpopBoundAccessTokens,
}: Pick<Client, 'public' | 'keys' | 'pushesRequests' | 'dpopBoundAccessTokens'>): Readonly<
  Record<string, unknown>
> {
  const demands = {
    ...(pushesRequests ? { require_pushed_authorization_requests: true } : {}),
    ...(dpopBoundAccessTokens ? { dpop_bound_access_tokens: true } : {}),
  };
  if (keys === null) {
    return { token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic', ...demands };
  }
  const { jwks, jwksUri, algorithm } = keys;
  return {
    token_endpoint_auth_method: PRIVATE_KEY_JWT,
    ...(algorithm === null ? {} : { token_endpoint_auth_signing_alg: algorithm }),
    ...(jwks === null ? {} : { jwks: JSON.parse(jwks) as unknown }),
    ...(jwksUri === null ? {} : { jwks_uri: jwksUri }),
    ...demands,
  };
}
