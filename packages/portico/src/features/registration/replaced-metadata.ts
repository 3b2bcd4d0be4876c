import { OAuthError } from '../../errors.ts';
import type { Client, ClientMetadata } from '../../store/client.ts';
import { invalidMetadata, type SentMetadata } from './asked-metadata.ts';

/**
 * Throws if a client changes its redirect URIs after a user has allowed the client access. Users
 * recognize a client by the place that receives its responses, and the applications page lists the
 * client under this place. A server may refuse such a change (RFC 7592 section 2.2).
 */
export function requireSamePlaces(client: Client, replaced: Client): void {
  if (client.usedAt === null) return;
  if (JSON.stringify(client.redirectUris) === JSON.stringify(replaced.redirectUris)) return;
  throw new OAuthError(
    'invalid_redirect_uri',
    'The redirect_uris stay as they are once a person has allowed the client; register ' +
      'another one.',
  );
}

/**
 * Returns the scopes after a replacement. An unverified client has all scopes (decision 36). A
 * client with keys may have registered with an initial access token and requested fewer scopes, but
 * its record does not show this. So the client gets only scopes that it already has or requests
 * now.
 */
export function scopesReplaced(
  client: Client,
  sent: SentMetadata,
  { scopes }: ClientMetadata,
  withToken: boolean,
): readonly string[] {
  if (client.keys === null || withToken) return scopes;
  const asked = typeof sent['scope'] === 'string' ? sent['scope'].split(' ') : [];
  const named = scopes.filter((scope) => client.scopes.includes(scope) || asked.includes(scope));
  if (named.length === 0) throw invalidMetadata('None of the scopes is offered.');
  return named;
}
