import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';
import { getDigest, type AlgorithmForm } from './algorithms.ts';
import { isStagedFile, readNumber } from './key-names.ts';
import type { SigningKey } from './signing-key.ts';

/** A new key that is not stored yet. */
export interface NewKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  /** Includes the private members. */
  readonly jwk: JWK;
}

/** RSA keys have 2048 bits. */
export async function newKey(algorithm: SigningAlgorithm): Promise<NewKey> {
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose');
  const pair = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
  const jwk = await exportJWK(pair.privateKey);
  return { kid: await calculateJwkThumbprint(jwk), algorithm, jwk };
}

/**
 * Errors never contain text from the file. They are logged, and the file could contain any secret.
 */
function parsedKey(text: string): JWK & StagedMembers {
  try {
    return JSON.parse(text) as JWK & StagedMembers;
  } catch {
    throw new Error('it is not JSON');
  }
}

export function keyIn(content: string, name: string, form: AlgorithmForm): SigningKey {
  const { name: algorithm, hash } = form;
  const jwk = parsedKey(content);
  const kid = requireForm(jwk, form);
  const privateKey = createPrivateKey({ key: jwk as JWK, format: 'jwk' });
  // RS256 requires at least 2048 bits (RFC 7518 section 3.3).
  if ((privateKey.asymmetricKeyDetails?.modulusLength ?? 2048) < 2048)
    throw new Error('it has less than 2048 bits');
  const publicJwk = publishedJwk(jwk, kid, form);
  requirePair(privateKey, publicJwk, form);
  const isStaged = isStagedFile(name);
  const signsFrom = isStaged ? jwk.signs_from : readNumber(name);
  if (!Number.isSafeInteger(signsFrom))
    throw new Error(
      'its signs_from, the time from which it signs, is missing or not a whole number',
    );
  const createdAt = Number.isSafeInteger(jwk.created_at) ? jwk.created_at : signsFrom;
  // RFC 7518 section 3.4 requires ECDSA signatures as two numbers, without DER. Other algorithms
  // ignore `dsaEncoding`.
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return {
    kid,
    algorithm,
    hash,
    createdAt: createdAt as number,
    signsFrom: signsFrom as number,
    isStaged,
    file: name,
    privateKey,
    publicJwk,
    sign: (data) => signOnPool(getDigest(form), data, key),
  };
}

/** Returns the `kid`. Throws unless this is a private key for this algorithm. */
function requireForm(jwk: JWK, { name: algorithm, kind, type, members }: AlgorithmForm): string {
  const { kid } = jwk;
  const fits = jwk.kty === type.kty && jwk.crv === type.crv;
  const isWhole = [...members, 'd' as const].every((each) => jwk[each] !== undefined);
  if (!fits || typeof kid !== 'string' || kid === '' || !isWhole)
    throw new Error(`it is not a private ${kind} key with a kid`);
  if ((jwk.alg ?? algorithm) !== algorithm || (jwk.use ?? 'sig') !== 'sig')
    throw new Error(`it is not for signing with ${algorithm}`);
  return kid;
}

/**
 * Throws if the public key does not belong to the private key. No client could verify its
 * signatures.
 */
function requirePair(privateKey: KeyObject, publicJwk: JWK, form: AlgorithmForm): void {
  const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
  const digest = getDigest(form);
  const bytes = Buffer.alloc(32);
  if (!verify(digest, bytes, publicKey, sign(digest, bytes, privateKey)))
    throw new Error('its public part does not match its private part');
}

/** Returns the public members, for the key set. */
export function publishedJwk(
  jwk: JWK,
  kid: string,
  { name: alg, type, members }: AlgorithmForm,
): JWK {
  const published = Object.fromEntries(members.map((each) => [each, jwk[each]]));
  return { ...type, ...published, kid, alg, use: 'sig' };
}

/**
 * Signs on a thread of Node's pool. Node needs a callback for this, which `promisify` passes.
 * `docs/decisions/0026` measures the gain for each algorithm.
 */
const signOnPool = promisify(sign);

/**
 * Members in the file of a staged key: times in milliseconds since 1970. They are never published.
 */
export interface StagedMembers {
  readonly created_at?: number;
  readonly signs_from?: number;
}
