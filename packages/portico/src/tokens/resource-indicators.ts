import { OAuthError } from '../errors.ts';
import { quotedUri } from '../quoting.ts';

/**
 * Resource indicators (RFC 8707). Tokens are issued for one target API, `oauth_server:audience`, or for none (null) when it is
 * empty; the parameter `resource` can only name it.
 */

/** The resource that a request names and that is not this audience, as the log shows it; null when there is none. */
export function otherResource(resource: string | undefined, audience: string | null): string | null {
  return resource === undefined || resource === audience ? null : quotedUri(resource);
}

/** The audience of a new grant: the configured one. A request that names another resource is `invalid_target`. */
export function requireAudience(resource: string | undefined, configured: string | null): string | null {
  const other = otherResource(resource, configured);
  if (other === null) return configured;
  throw new OAuthError(
    'invalid_target',
    'The resource is not one that this server issues tokens for.',
    `the resource asked for is ${other}, oauth_server:audience is ${quotedAudience(configured)}`,
  );
}

/** An audience as the log shows it. */
export function quotedAudience(audience: string | null): string {
  return audience === null ? 'none' : quotedUri(audience);
}
