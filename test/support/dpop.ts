import { createHash, randomUUID } from 'node:crypto';
import { newKey, signed, type ClientKey } from './assertions.ts';
import type { RunningPortal, TestClient } from './portal.ts';

/** Token requests of clients that prove a key (RFC 9449 section 5). */

export const newDpopKey = (): ClientKey => newKey('ES256');

type Members = Readonly<Record<string, unknown>>;

/** Only the public key. */
const publicOf = ({ jwk }: ClientKey): Members =>
  Object.fromEntries(Object.entries(jwk).filter(([name]) => name !== 'kid'));

/** RFC 7638. */
export function jktOf({ jwk }: ClientKey): string {
  const { crv, e, kty, n, x, y } = jwk as Members;
  return createHash('sha256').update(JSON.stringify({ crv, e, kty, n, x, y })).digest('base64url');
}

/** A proof for the token endpoint; `now` is in milliseconds. */
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

/** A confidential client has a secret, a public one an empty one. */
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
