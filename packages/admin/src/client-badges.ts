import type { Client } from 'portico';
import { authenticationMetadata } from 'portico/extension';
import { markup, type HtmlContent } from './html.ts';

/**
 * Returns the labels that a list shows next to the client's name, such as `public` or `revoked`.
 */
export function badges({
  public: isPublic,
  applicationType,
  registeredBy,
  revokedAt,
}: Client): HtmlContent {
  const kinds = [
    isPublic ? 'public' : 'confidential',
    ...(applicationType === 'native' ? ['native'] : []),
    ...(registeredBy === 'operator'
      ? []
      : [registeredBy === 'document' ? 'a document' : 'registered itself']),
  ].map((kind) => markup`<span class="badge">${kind}</span> `);
  if (revokedAt === null) return kinds;
  return [
    ...kinds,
    markup`<span class="badge bad">${registeredBy === 'document' ? 'blocked' : 'revoked'}</span>`,
  ];
}

/**
 * Returns the time when the server stops accepting the client's previous secret, in milliseconds
 * since 1970. Returns null if the server accepts only the current secret.
 */
export function openUntil(
  { revokedAt, previousSecretExpiresAt }: Client,
  now: number,
): number | null {
  return revokedAt === null && previousSecretExpiresAt !== null && previousSecretExpiresAt > now
    ? previousSecretExpiresAt
    : null;
}

/** Returns the name of the client's authentication method, as defined in RFC 7591 section 2. */
export function getAuthentication(client: Parameters<typeof authenticationMetadata>[0]): string {
  const { token_endpoint_auth_method: method } = authenticationMetadata(client, []);
  return String(method);
}
