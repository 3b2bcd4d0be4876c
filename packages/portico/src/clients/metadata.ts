import type { ApplicationType, Grant } from '../store/client.ts';
import { OFFLINE_ACCESS } from '../tokens/scopes.ts';

/**
 * Interprets the metadata that a client sends in a registration or publishes in a client metadata
 * document (RFC 7591 section 2). The server reports problems of a registration in the response. It
 * writes problems of a document to the log.
 */

/**
 * Whether a value is missing, null or empty. Portico treats all three the same, because some
 * clients send every field that they know.
 */
export function saysNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}

/**
 * Returns the grants in `grant_types` that are in `offered`. If this field is missing, looks only
 * for the default, `authorization_code`.
 */
export function grantsNamed(
  named: readonly string[] | undefined,
  offered: readonly Grant[],
): readonly Grant[] {
  const asked = named ?? ['authorization_code'];
  return offered.filter((each) => asked.includes(each));
}

/**
 * Returns the scopes in `scope` that are in `offered`. If this field is missing or contains only
 * `offline_access`, returns all of `offered`.
 */
export function scopesNamed(
  scope: string | undefined,
  offered: readonly string[],
): readonly string[] {
  const asked = (scope ?? '').split(' ').filter((name) => name !== '' && name !== OFFLINE_ACCESS);
  return asked.length === 0
    ? offered
    : [...new Set(asked)].filter((name) => offered.includes(name));
}

/**
 * Returns the application type of a client. If `application_type` is missing, a client with a
 * loopback address or a private-use scheme is a native application. Half of the MCP hosts do not
 * send `application_type`, although the port of their callback can change (RFC 8252 section 7.3).
 */
export function applicationTypeFor(
  named: ApplicationType | undefined,
  redirectUris: readonly string[],
): ApplicationType {
  return named ?? (redirectUris.every((uri) => /^https:/i.test(uri)) ? 'web' : 'native');
}
