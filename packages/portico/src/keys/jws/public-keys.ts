import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { JwsError, type JsonObject, type Jws } from './compact.ts';

/**
 * The algorithms with which clients and issuers may sign. All of them use public keys (RFC 7518
 * section 3.1, RFC 8037 section 3.1, RFC 9864 section 2.2).
 */
export const VERIFIED_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

export type VerifiedAlgorithm = (typeof VERIFIED_ALGORITHMS)[number];

export interface PublicKey {
  readonly kid: string | null;
  readonly algorithms: readonly VerifiedAlgorithm[];
  readonly key: KeyObject;
  /** Only with the members that Portico reads. */
  readonly jwk: JsonObject;
}

/** Thrown if a key must not be used. The message explains the reason. */
export class JwkError extends Error {
  override readonly name = 'JwkError';
}

interface KeyForm {
  readonly algorithms: readonly VerifiedAlgorithm[];
  /** The public members of a key of this type (RFC 7518 section 6, RFC 8037 section 2). */
  readonly members: readonly string[];
}

const RSA: KeyForm = { algorithms: ['RS256', 'PS256'], members: ['n', 'e'] };
const P256: KeyForm = { algorithms: ['ES256'], members: ['crv', 'x', 'y'] };
const ED25519: KeyForm = { algorithms: ['EdDSA', 'Ed25519'], members: ['crv', 'x'] };

/** Members of private or symmetric keys (RFC 7518 section 6). Only the owner may know them. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** In bits (RFC 7518 section 3.3). An attacker could slow the server down with larger keys. */
const RSA_BITS = { least: 2048, most: 4096 } as const;
const LEAST_EXPONENT = 65_537n;
const MOST_EXPONENT = 2n ** 32n;
/** In characters. Longer values are not parsed. */
const LONGEST_MEMBER = 1400;
const LONGEST_KID = 255;

export function hasPrivateMember(jwk: object): boolean {
  return PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name));
}

/**
 * Reads a public key (RFC 7517). Returns null for a key with another type or purpose, which callers
 * must skip (section 5). Throws a JwkError for a key that must not be used.
 */
export function readPublicKey(value: unknown): PublicKey | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new JwkError('is not a JSON object');
  const jwk = value as JsonObject;
  if (hasPrivateMember(jwk)) throw new JwkError('has a private or symmetric part');
  const form = getForm(jwk);
  if (form === null || !isForVerifying(jwk)) return null;
  const { alg, kid } = jwk;
  const algorithms =
    alg === undefined ? form.algorithms : form.algorithms.filter((each) => each === alg);
  if (algorithms.length === 0) return null;
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > LONGEST_KID)) {
    throw new JwkError(`has a kid that is not a string of at most ${LONGEST_KID} characters`);
  }
  const publicMembers = Object.fromEntries(
    ['kty', ...form.members].map((name) => [name, getMember(jwk, name)]),
  );
  return {
    kid: kid ?? null,
    algorithms,
    key: importKey(publicMembers, form),
    jwk: {
      ...publicMembers,
      ...(kid === undefined ? {} : { kid }),
      ...(alg === undefined ? {} : { alg }),
      use: 'sig',
    },
  };
}

function getForm({ kty, crv }: JsonObject): KeyForm | null {
  if (kty === 'RSA') return RSA;
  if (kty === 'EC' && crv === 'P-256') return P256;
  return kty === 'OKP' && crv === 'Ed25519' ? ED25519 : null;
}

/** RFC 7517 sections 4.2 and 4.3. */
function isForVerifying({ use, key_ops: operations }: JsonObject): boolean {
  if (use !== undefined && use !== 'sig') return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
}

function getMember(jwk: JsonObject, name: string): string {
  const value = Object.hasOwn(jwk, name) ? jwk[name] : undefined;
  if (typeof value === 'string' && value.length <= LONGEST_MEMBER && /^[A-Za-z0-9_-]+$/.test(value))
    return value;
  throw new JwkError(`has no readable ${name}`);
}

function importKey(jwk: Readonly<Record<string, string>>, form: KeyForm): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new JwkError('is not a public key');
  }
  if (form !== RSA) return key;
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (bits < RSA_BITS.least || bits > RSA_BITS.most) {
    throw new JwkError(`has ${bits} bits; RSA needs ${RSA_BITS.least} to ${RSA_BITS.most}`);
  }
  if (exponent < LEAST_EXPONENT || exponent > MOST_EXPONENT || exponent % 2n === 0n) {
    throw new JwkError('has an exponent that is not safe for signing; use 65537');
  }
  return key;
}

/**
 * Throws a JwsError if the algorithm in the header is not supported, for example `none` or HMAC.
 */
export function getAlgorithm({ header }: Jws): VerifiedAlgorithm {
  const algorithm = VERIFIED_ALGORITHMS.find((each) => each === header['alg']);
  if (algorithm === undefined) throw new JwsError('its alg is not accepted here');
  return algorithm;
}

/**
 * Returns true if this key signed the JWS with the algorithm in the header. The key must be allowed
 * to use this algorithm.
 */
export function isSignedBy({ algorithms, key }: PublicKey, jws: Jws): boolean {
  return algorithms.includes(getAlgorithm(jws)) && isSignedWith(key, jws);
}

/**
 * Like `isSignedBy`, but does not check the key's allowed algorithms. Only for this server's own
 * keys.
 */
export function isSignedWith(key: KeyObject, jws: Jws): boolean {
  return VERIFY[getAlgorithm(jws)](key, jws);
}

type Verify = (key: KeyObject, jws: Jws) => boolean;

const ed25519: Verify = (key, { signed, signature }) => verify(null, signed, key, signature);

const VERIFY: Readonly<Record<VerifiedAlgorithm, Verify>> = {
  RS256: (key, { signed, signature }) =>
    verify('sha256', signed, { key, padding: constants.RSA_PKCS1_PADDING }, signature),
  // The salt must be as long as the hash (RFC 7518 section 3.5).
  PS256: (key, { signed, signature }) =>
    verify(
      'sha256',
      signed,
      {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      },
      signature,
    ),
  ES256: (key, { signed, signature }) =>
    verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature),
  EdDSA: ed25519,
  Ed25519: ed25519,
};
