import { createHash, randomUUID } from 'node:crypto';
import { newKey, signed, type ClientKey } from './assertions.ts';
import type { RunningPortal, TestClient } from './portal.ts';

/**
 * Creates a key for DPoP. The functions below send token requests with proofs (RFC 9449 section 5).
 */

export const newDpopKey = (): ClientKey => newKey('ES256');

type Members = Readonly<Record<string, unknown>>;

/** Returns only the public key. */
const publicOf = ({ jwk }: ClientKey): Members =>
  Object.fromEntries(Object.entries(jwk).filter(([name]) => name !== 'kid'));

/** Returns the thumbprint of a key (RFC 7638). */
export function jktOf({ jwk }: ClientKey): string {
  const { crv, e, kty, n, x, y } = jwk as Members;
  return createHash('sha256').update(JSON.stringify({ crv, e, kty, n, x, y })).digest('base64url');
}

/** Creates a proof for the token endpoint. `now` is in milliseconds. */
export function tokenProof(
  key: ClientKey,
  issuer: string,
  now: number,
  claims: Members = {},
): string {
  const header = { typ: 'dpop+jwt', alg: key.algorithm, jwk: publicOf(key) };
  const payload = {
    jti: randomUUID(),
    htm: 'POST',
    htu: `${issuer}/oauth/token`,
    iat: Math.floor(now / 1000),
  };
  return signed(key, header, { ...payload, ...claims });
}

/** Sends a token request with a proof. A public client has an empty secret. */
export function requestWithProof(
  portal: RunningPortal,
  client: TestClient | null,
  proof: string | null,
  form: Readonly<Record<string, string>>,
): Promise<Response> {
  const headers: Record<string, string> = proof === null ? {} : { DPoP: proof };
  const body = new URLSearchParams(form);
  if (client !== null && client.secret === '') body.set('client_id', client.id);
  else if (client !== null) {
    headers['Authorization'] =
      `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  }
  return fetch(`${portal.url}/oauth/token`, { method: 'POST', headers, body });
}
