import { OAuthError } from './errors.ts';
import type { ServerContext } from './server-context.ts';

/**
 * The target API of a grant, from the parameter `resource` (RFC 8707): the configured audience, which is also meant
 * when none is named; null when none is configured. Any other target is `invalid_target`.
 */
export function targetOf(context: ServerContext, resource: string | undefined): string | null {
  if (resource !== undefined && resource !== context.audience) {
    throw new OAuthError('invalid_target', 'The resource is not one that this server issues tokens for.');
  }
  return context.audience;
}
