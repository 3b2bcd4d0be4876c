import { OAuthError } from '../errors.ts';
import { quotedUri } from '../quoting.ts';

/**
 * Resource indicators (RFC 8707). The server issues tokens for one API, `oauth_server:audience`, or
 * for no API (null) if that is empty. The parameter `resource` can only name this API.
 */

/**
 * Returns the requested resource for the log if it differs from this audience. Otherwise returns
 * null.
 */
export function otherResource(resource: string | undefined, audience: string | null): string | null {
  return resource === undefined || resource === audience ? null : quotedUri(resource);
}

/**
 * Returns the audience for a new grant, which is the configured one. Throws `invalid_target` if the
 * request names another resource.
 */
export function requireAudience(resource: string | undefined, configured: string | null): string | null {
  const other = otherResource(resource, configured);
  if (other === null) return configured;
  throw new OAuthError(
    'invalid_target',
    'The resource is not one that this server issues tokens for.',
    `the resource asked for is ${other}, oauth_server:audience is ${quotedAudience(configured)}`,
  );
}

/** Returns an audience for the log. */
export function quotedAudience(audience: string | null): string {
  return audience === null ? 'none' : quotedUri(audience);
}
