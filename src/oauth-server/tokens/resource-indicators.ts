import { OAuthError } from '../errors.ts';
import { quotedUri } from '../refusals.ts';
import type { ServerContext } from '../server-context.ts';

/**
 * The target API of a grant, from the parameter `resource` (RFC 8707): the configured audience, which is also meant
 * when none is named; null when none is configured. Any other target is `invalid_target`.
 */
export function targetOf(context: ServerContext, resource: string | undefined): string | null {
  if (resource !== undefined && resource !== context.audience) {
    throw new OAuthError(
      'invalid_target',
      'The resource is not one that this server issues tokens for.',
      `the resource asked for is ${quotedUri(resource)}, oauth_server:audience is ${targetName(context.audience)}`,
    );
  }
  return context.audience;
}

/** As the log names it. */
export function targetName(audience: string | null): string {
  return audience === null ? 'none' : quotedUri(audience);
}
