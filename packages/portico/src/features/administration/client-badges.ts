import { authenticationMetadata } from '../../clients/client-metadata.ts';
import type { Client } from '../../store/client.ts';
import { markup, type HtmlContent } from './html.ts';

/** What kind of client it is, in a word each. */
export function badges({ public: isPublic, applicationType, registeredBy, revokedAt }: Client): HtmlContent {
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

/** Of a rotation that is open: until when the previous secret is accepted, milliseconds since 1970; otherwise null. */
export function openUntil({ revokedAt, previousSecretExpiresAt }: Client, now: number): number | null {
  return revokedAt === null && previousSecretExpiresAt !== null && previousSecretExpiresAt > now
    ? previousSecretExpiresAt
    : null;
}

/** How it authenticates, by the name of RFC 7591 section 2. */
export function authenticationOf(client: Parameters<typeof authenticationMetadata>[0]): string {
  const { token_endpoint_auth_method: method } = authenticationMetadata(client, []);
  return String(method);
}
