import { OAuthError } from '../../errors.ts';
import type { Client, ClientMetadata } from '../../store/client.ts';
import { invalidMetadata, type SentMetadata } from './asked-metadata.ts';

/**
 * Throws if a client changes its redirect URIs after its first use. A user may have allowed it
 * access. Pages show where a client receives responses, and users recognize it by this. A server
 * may reject such a change (RFC 7592 section 2.2).
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
 * Returns the redirect URIs to store. Some clients store their URIs as a set, so another order of
 * the same URIs changes nothing.
 */
export function redirectUrisReplaced(
  { redirectUris: own }: Client,
  { redirectUris: sent }: ClientMetadata,
): readonly string[] {
  return own.length === sent.length && own.every((uri) => sent.includes(uri)) ? own : sent;
}

/**
 * Returns the scopes to store. An unverified client gets all scopes (decision 36).
 *
 * A client with keys may have registered with an initial access token and fewer scopes. It may have
 * no rights now that need such a token. So it gets only scopes that it already has or requests now.
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
