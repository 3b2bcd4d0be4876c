import { OAuthError } from '../errors.ts';
import { quotedUri } from '../quoting.ts';

/**
 * Resource indicators (RFC 8707). Tokens are issued for one target API, `oauth_server:audience`, or
 * for none (null) if that is empty. The parameter `resource` can only name this one.
 */

/** The requested resource for the log, if it differs from this audience. Otherwise null. */
export function otherResource(resource: string | undefined, audience: string | null): string | null {
  return resource === undefined || resource === audience ? null : quotedUri(resource);
}

/**
 * The audience of a new grant: the configured one. A request for another resource is
 * `invalid_target`.
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

/** An audience for the log. */
export function quotedAudience(audience: string | null): string {
  return audience === null ? 'none' : quotedUri(audience);
}
