import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { ConfigurationError, type ConfigurationProblem } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';
import { DIGESTS, FORMS, SIGNING_ALGORITHMS } from './algorithms.ts';
import { publishedJwk } from './key-files.ts';
import { inTime } from '../http/in-time.ts';
import { SignerError, type SigningKey } from './signing-key.ts';

/**
 * A signing key that is no file: a hardware module, a service for keys. Of several for one algorithm the one signs whose `signsFrom` came
 * last; all are published, and verify what they have signed, for as long as the server is given them.
 */
export interface KeySigner {
  /** What it signs with, and nothing else. */
  readonly algorithm: SigningAlgorithm;
  /** The key's identifier in the key set and in ID tokens: of any form, and of no other key. */
  readonly kid: string;
  /** The public key (RFC 7517): RSA of 2048 bits or more, P-256, or Ed25519. Published, without what else is in it. */
  readonly publicJwk: JWK;
  /**
   * From when it signs, milliseconds since 1970, by the clock of each process: so the next key is published before it signs. From the
   * beginning unless given, before all files of its algorithm.
   */
  readonly signsFrom?: number;
  /** For how long an answer is waited for, in milliseconds, 60000 at most; 5000 unless given. */
  readonly timeout?: number;
  /**
   * Signs these bytes as RFC 7518 section 3 has it: RSASSA-PKCS1-v1_5 with SHA-256; ECDSA with SHA-256, both numbers side by side in
   * 64 bytes, no DER; or Ed25519. The signal says that nobody waits any more. What it rejects with, or anything that the public key does not
   * verify, answers the request 503, and spends nothing; the log has the class of an error and its code, but not its message.
   */
  sign(data: Uint8Array, options: { readonly signal: AbortSignal }): Promise<Uint8Array>;
}

const DEFAULT_TIMEOUT = 5000;
const LONGEST_TIMEOUT = 60_000;

/** The keys of these signers, the latest to sign first. Throws a ConfigurationError for one that is none. */
export function signingKeysOf(signers: readonly KeySigner[]): readonly SigningKey[] {
  const problems = signers.flatMap((signer, index) => problemsOf(signer, index, signers));
  if (problems.length > 0) throw new ConfigurationError(problems);
  // Of those without a time, the last one signs.
  return signers
    .toReversed()
    .map(signingKeyOf)
    .sort((one, other) => other.signsFrom - one.signsFrom);
}

function problemsOf(
  signer: KeySigner,
  index: number,
  all: readonly KeySigner[],
): readonly ConfigurationProblem[] {
  const { algorithm, kid, publicJwk, signsFrom, timeout } = signer;
  const problem = (message: string) => [{ key: `keySigners:${index}`, message }];
  if (!SIGNING_ALGORITHMS.includes(algorithm))
    return problem(`algorithm must be one of ${SIGNING_ALGORITHMS.join(', ')}`);
  if (typeof kid !== 'string' || kid === '') return problem('kid must be a text that is not empty');
  if (all.findIndex((each) => each.kid === kid) !== index)
    return problem('another KeySigner has the same kid');
  if (typeof signer.sign !== 'function') return problem('sign must be a function');
  if (signsFrom !== undefined && (!Number.isSafeInteger(signsFrom) || signsFrom <= 0))
    return problem('signsFrom must be milliseconds since 1970');
  if (timeout !== undefined && !(Number.isInteger(timeout) && timeout > 0 && timeout <= LONGEST_TIMEOUT))
    return problem(`timeout must be milliseconds from 1 to ${LONGEST_TIMEOUT}`);
  return publicKeyProblem(algorithm, kid, publicJwk).flatMap(problem);
}

function publicKeyProblem(algorithm: SigningAlgorithm, kid: string, publicJwk: JWK): readonly string[] {
  const { kind, type } = FORMS[algorithm];
  const wanted = `publicJwk must be a public ${kind} key, for ${algorithm}`;
  if (typeof publicJwk !== 'object' || publicJwk === null) return [wanted];
  if (publicJwk.d !== undefined)
    return ['publicJwk must hold no private part: whoever keeps the key for you should not tell it'];
  if (publicJwk.kty !== type.kty || publicJwk.crv !== type.crv) return [wanted];
  try {
    const key = publicKeyOf(algorithm, kid, publicJwk);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 2048;
    return bits < 2048 ? [`${wanted}, of at least 2048 bits`] : [];
  } catch {
    return [wanted];
  }
}

function publicKeyOf(algorithm: SigningAlgorithm, kid: string, publicJwk: JWK): KeyObject {
  return createPublicKey({ key: publishedJwk(publicJwk, kid, algorithm), format: 'jwk' });
}

function signingKeyOf(signer: KeySigner): SigningKey {
  const { algorithm, kid, publicJwk, signsFrom = 0 } = signer;
  const publicKey = publicKeyOf(algorithm, kid, publicJwk);
  return {
    kid,
    algorithm,
    createdAt: 0,
    signsFrom,
    isStaged: signsFrom > 0,
    file: null,
    privateKey: null,
    publicJwk: publishedJwk(publicJwk, kid, algorithm),
    async sign(data) {
      const signature = await answerOf(signer, data);
      if (await isSignature(algorithm, publicKey, data, signature)) return signature;
      throw new SignerError(kid, whatIsWrong(algorithm, signature));
    },
  };
}

/** What it answers within its time. */
async function answerOf(signer: KeySigner, data: Uint8Array): Promise<Uint8Array> {
  const { kid, timeout = DEFAULT_TIMEOUT } = signer;
  const patience = new AbortController();
  const late = () => {
    patience.abort();
    return new SignerError(kid, `did not answer within ${timeout} ms`);
  };
  return bytesOf(kid, await inTime(asked(signer, data, patience.signal), timeout, late));
}

function bytesOf(kid: string, answer: unknown): Uint8Array {
  try {
    if (answer instanceof Uint8Array) return Uint8Array.from(answer);
  } catch {
    // Its bytes were given away, as to another thread.
  }
  throw new SignerError(kid, 'answered something that is no Uint8Array');
}

async function asked(signer: KeySigner, data: Uint8Array, signal: AbortSignal): Promise<unknown> {
  try {
    // A copy: whatever it does to the bytes, those that are verified are ours.
    return await signer.sign(Uint8Array.from(data), { signal });
  } catch (error) {
    throw failed(signer.kid, error);
  }
}

/** The class and the code alone: a message may be a whole command line, with its password. */
function failed(kid: string, error: unknown): SignerError {
  try {
    const name = error instanceof Error && PLAIN.test(error.name) ? error.name : 'an error';
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return new SignerError(kid, `failed: ${name}${PLAIN.test(code) ? `, ${code}` : ''}`);
  } catch {
    // What it says of itself throws, and may say more than the error does.
    return new SignerError(kid, 'failed: an error');
  }
}

const PLAIN = /^\w{1,40}$/;

const verifyOnPool = promisify(verify);

/** Nobody could verify an ID token with any other, and to whoever asks it would look as if it was forged. */
async function isSignature(
  algorithm: SigningAlgorithm,
  publicKey: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  return verifyOnPool(DIGESTS[algorithm], data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

function whatIsWrong(algorithm: SigningAlgorithm, signature: Uint8Array): string {
  const { length } = signature;
  // DER begins with the tag of a sequence, and is longer or shorter.
  if (algorithm === 'ES256' && length !== 64 && signature[0] === 0x30)
    return 'answered a signature in DER; ES256 has both numbers side by side, in 64 bytes (RFC 7518 section 3.4)';
  return `answered ${length} bytes that are no ${algorithm} signature of what it was given by its public key`;
}
