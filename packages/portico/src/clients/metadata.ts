import type { ApplicationType, Grant } from '../store/client.ts';
import { OFFLINE_ACCESS } from '../tokens/scopes.ts';

/**
 * What a client's own metadata mean (RFC 7591 section 2), whether it registers itself or is a
 * document. Each reports problems in its own way: registration answers them, a document's problems
 * are in the log.
 */

/** An empty value counts as left out: clients write every field that they know. */
export function saysNothing(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** The grants that `grant_types` names. Without it, there is one. */
export function grantsNamed(
  named: readonly string[] | undefined,
  offered: readonly Grant[],
): readonly Grant[] {
  const asked = named ?? ['authorization_code'];
  return offered.filter((each) => asked.includes(each));
}

/** The scopes that `scope` names. Without it, all of them. */
export function scopesNamed(scope: string | undefined, offered: readonly string[]): readonly string[] {
  const asked = (scope ?? '').split(' ').filter((name) => name !== '' && name !== OFFLINE_ACCESS);
  return asked.length === 0 ? offered : [...new Set(asked)].filter((name) => offered.includes(name));
}

/**
 * Without `application_type`, a client with a loopback address or a private-use scheme is a program
 * on a device. Half of the MCP hosts do not say it, and call back on any port (RFC 8252 section
 * 7.3).
 */
export function applicationTypeFor(
  named: ApplicationType | undefined,
  redirectUris: readonly string[],
): ApplicationType {
  return named ?? (redirectUris.every((uri) => /^https:/i.test(uri)) ? 'web' : 'native');
}
