import type { ApplicationType, Grant } from '../store/client.ts';
import { OFFLINE_ACCESS } from '../tokens/scopes.ts';

/**
 * Interprets the metadata in a registration or in a client metadata document (RFC 7591 section 2).
 * The response reports problems of a registration. The log reports problems of a document.
 */

/**
 * Some clients send every field that they know. So a missing value, null and an empty value count
 * the same.
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
 * Returns the grants in `grant_types` that the server offers. The default is `authorization_code`.
 */
export function grantsNamed(
  named: readonly string[] | undefined,
  offered: readonly Grant[],
): readonly Grant[] {
  const asked = named ?? ['authorization_code'];
  return offered.filter((each) => asked.includes(each));
}

/**
 * Returns the scopes in `scope` that are in `offered`. Returns all of `offered` if `scope` is
 * missing or contains only `offline_access`.
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
 * loopback address or a private-use scheme is native. Half of the MCP hosts do not send it,
 * although the port of their callback can change (RFC 8252 section 7.3).
 */
export function applicationTypeFor(
  named: ApplicationType | undefined,
  redirectUris: readonly string[],
): ApplicationType {
  return named ?? (redirectUris.every((uri) => /^https:/i.test(uri)) ? 'web' : 'native');
}
