import { createHash, randomUUID } from 'node:crypto';
import { signed, type ClientKey } from './assertions.ts';

/** Proofs of DPoP (RFC 9449 section 4.2), as clients make them; `more` and `header` change what they say. */
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

/** The header fields of a request with a bound token. */
export function boundHeaders(
  key: ClientKey,
  method: string,
  url: string,
  accessToken: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, string>> {
  return { Authorization: `DPoP ${accessToken}`, DPoP: proofFor(key, method, url, accessToken, more) };
}
