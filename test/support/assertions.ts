import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type KeyObject,
} from 'node:crypto';

/**
 * Keys of clients, and assertions that they sign. Some assertions are invalid in ways that no
 * library would produce.
 */

export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA' | 'Ed25519';
type Members = Readonly<Record<string, unknown>>;

export interface ClientKey {
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
  readonly kid: string;
  /** The public part of the key. */
  readonly jwk: Members & { readonly kty?: string };
}

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export function newKey(algorithm: Algorithm, kid: string = randomUUID(), bits = 2048): ClientKey {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : algorithm === 'EdDSA' || algorithm === 'Ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('rsa', { modulusLength: bits });
  const jwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid };
  return { algorithm, privateKey, kid, jwk };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signatureOf({ algorithm, privateKey: key }: ClientKey, signed: string): string {
  const data = Buffer.from(signed);
  const bytes = {
    RS256: () => sign('sha256', data, key),
    PS256: () =>
      sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
    ES256: () => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
    EdDSA: () => sign(null, data, key),
    Ed25519: () => sign(null, data, key),
  }[algorithm]();
  return bytes.toString('base64url');
}

/** Signs the header and the claims. Each is an object or raw text. */
export function signed(
  key: ClientKey,
  header: Members | string,
  payload: Members | string,
): string {
  const part = (value: Members | string) =>
    typeof value === 'string' ? Buffer.from(value).toString('base64url') : encode(value);
  const input = `${part(header)}.${part(payload)}`;
  return `${input}.${signatureOf(key, input)}`;
}

export const headerOf = ({ algorithm, kid }: ClientKey): Members => ({ alg: algorithm, kid });

/** Returns the claims of an assertion. `now` is in milliseconds. */
export function claimsOf(clientId: string, audience: unknown, now: number): Members {
  const seconds = Math.floor(now / 1000);
  return {
    iss: clientId,
    sub: clientId,
    aud: audience,
    exp: seconds + 60,
    iat: seconds,
    jti: randomUUID(),
  };
}

/** Returns the parameters with which a request authenticates. */
export function withAssertion(assertion: string): Readonly<Record<string, string>> {
  return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
}
