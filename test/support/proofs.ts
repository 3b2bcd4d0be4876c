import { createHash, randomUUID } from 'node:crypto';
import { signed, type ClientKey } from './assertions.ts';
import type { RunningPortal } from './portal.ts';

/**
 * Creates a DPoP proof (RFC 9449 section 4.2), as a client does. `more` changes its claims, and
 * `header` changes its header.
 */
export function proofFor(
  key: ClientKey,
  method: string,
  url: string,
  accessToken: string | null = null,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const { kid: _, ...jwk } = key.jwk;
  const ath = accessToken === null ? {} : { ath: hashOf(accessToken) };
  const now = Math.floor(Date.now() / 1000);
  const claims = { htm: method, htu: url, iat: now, jti: randomUUID(), ...ath, ...more };
  return signed(key, { typ: 'dpop+jwt', alg: key.algorithm, jwk }, claims);
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Returns the headers of a request with a bound token. */
export function boundHeaders(
  key: ClientKey,
  method: string,
  url: string,
  accessToken: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, string>> {
  return {
    Authorization: `DPoP ${accessToken}`,
    DPoP: proofFor(key, method, url, accessToken, more),
  };
}

/** Registers a service, and returns its token for `notes:read`. The token is bound to this key. */
export async function boundServiceToken(
  { server, url }: RunningPortal,
  key: ClientKey,
): Promise<string> {
  const { client, secret } = await server.clients.create({
    name: 'Robot',
    grants: ['client_credentials'],
    scopes: ['notes:read'],
  });
  const to = `${url}/oauth/token`;
  const issued = await fetch(to, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(`${client.id}:${secret}`)}`,
      DPoP: proofFor(key, 'POST', to),
    },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return ((await issued.json()) as { readonly access_token: string }).access_token;
}
