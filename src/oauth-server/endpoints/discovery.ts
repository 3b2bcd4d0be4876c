import { authorizationServerMetadata, openidProviderMetadata } from '../metadata.ts';
import { jsonResponse } from '../responses.ts';
import type { ServerContext } from '../server-context.ts';

const CACHED_FOR_A_MINUTE = { 'Cache-Control': 'public, max-age=60' } as const;
/** A new key signs at once, so a cache may not hide it for long. */
const CACHED_FOR_SECONDS = { 'Cache-Control': 'public, max-age=5' } as const;

/** GET /.well-known/openid-configuration (OpenID Connect Discovery 1.0 section 4). */
export async function openidConfigurationEndpoint(context: ServerContext): Promise<Response> {
  return jsonResponse(openidProviderMetadata(context), 200, CACHED_FOR_A_MINUTE);
}

/** GET /.well-known/oauth-authorization-server (RFC 8414 section 3). */
export async function authorizationServerEndpoint(context: ServerContext): Promise<Response> {
  return jsonResponse(authorizationServerMetadata(context), 200, CACHED_FOR_A_MINUTE);
}

/** GET /.well-known/jwks.json (RFC 7517 section 5): every key, the retired ones too, read at this moment. */
export async function jwksEndpoint(context: ServerContext): Promise<Response> {
  const keys = await context.keys.all();
  return jsonResponse({ keys: keys.map((key) => key.publicJwk) }, 200, CACHED_FOR_SECONDS);
}
