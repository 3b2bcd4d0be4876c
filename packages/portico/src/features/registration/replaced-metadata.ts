import { OAuthError } from '../../errors.ts';
import type { Client, ClientMetadata } from '../../store/client.ts';
import { invalidMetadata, type SentMetadata } from './asked-metadata.ts';

/**
 * Throws if the redirect URIs lead to other places than before. People know the client by where its
 * responses go, and find it under this name on the applications page. So a client must not change
 * these places after a person has allowed it (RFC 7592 section 2.2 lets a server refuse this).
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
 * Returns the scopes after a replacement. An unverified client has all scopes (decision 36).
 *
 * A client with keys may have registered with an initial access token and requested fewer scopes.
 * Its record does not show this. So it gets the scopes that it had and those that it requests now,
 * but no scope that it never named.
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
