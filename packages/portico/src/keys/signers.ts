import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { ConfigurationError, type ConfigurationProblem } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';
import { getDigest, type AlgorithmForm, type SigningAlgorithms } from './algorithms.ts';
import { publishedJwk } from './key-pairs.ts';
import { inTime } from '../http/in-time.ts';
import { SignerError, type SigningKey } from './signing-key.ts';

/**
 * A signing key that is not in the key directory but, for example, in a hardware module or a key
 * service.
 *
 * If several signers have the same algorithm, the server signs with the one that has started most
 * recently according to `signsFrom`. The server publishes the public keys of all signers in its
 * options, so that clients can verify their signatures.
 */
export interface KeySigner {
  /** The only algorithm with which the signer signs. */
  readonly algorithm: SigningAlgorithm;
  /**
   * The id of the key in the key set and in ID tokens. It can be any non-empty string but must be
   * unique.
   */
  readonly kid: string;
  /**
   * The public key (RFC 7517): RSA with at least 2048 bits, P-256, or Ed25519. If it contains the
   * private key, the server does not start.
   */
  readonly publicJwk: JWK;
  /**
   * When the signer starts to sign, in milliseconds since 1970, according to the clock of each
   * process. Set a later time to publish the key before it signs. By default, the signer signs
   * immediately. When a signer signs, the server does not sign with key files of the same
   * algorithm.
   */
  readonly signsFrom?: number;
  /**
   * How long the server waits for a signature, in milliseconds. Defaults to 5000. The maximum is
   * 60000.
   */
  readonly timeout?: number;
  /**
   * Signs these bytes with the signer's algorithm (RFC 7518 section 3):
   *
   * - RS256: RSASSA-PKCS1-v1_5 with SHA-256.
   * - ES256: ECDSA with SHA-256. The signature is 64 bytes long: two numbers, one after the other,
   *   without DER.
   * - EdDSA: Ed25519.
   *
   * The signal aborts when the server stops waiting. The server responds with 503 if this method
   * rejects or the public key does not verify the signature. The client's authorization code or
   * refresh token then stays valid. The log contains the class and code of the error, but not its
   * message.
   */
  sign(data: Uint8Array, options: { readonly signal: AbortSignal }): Promise<Uint8Array>;
}

const DEFAULT_TIMEOUT = 5000;
const LONGEST_TIMEOUT = 60_000;

/**
 * Sorts the keys by start time (`signsFrom`), latest first. Throws a ConfigurationError for an
 * invalid signer.
 */
export function buildSigningKeys(
  signers: readonly KeySigner[],
  algorithms: SigningAlgorithms,
): readonly SigningKey[] {
  const problems = signers.flatMap((signer, index) =>
    listProblems(signer, index, signers, algorithms),
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  // Without `signsFrom`, the last signer in the list signs.
  return signers
    .toReversed()
    .map((signer) => buildSigningKey(signer, algorithms.form(signer.algorithm)))
    .sort((one, other) => other.signsFrom - one.signsFrom);
}

function listProblems(
  signer: KeySigner,
  index: number,
  all: readonly KeySigner[],
  algorithms: SigningAlgorithms,
): readonly ConfigurationProblem[] {
  const { algorithm, kid, publicJwk, signsFrom, timeout } = signer;
  const problem = (message: string) => [{ key: `keySigners:${index}`, message }];
  if (!algorithms.has(algorithm))
    return problem(`algorithm must be one of ${algorithms.names.join(', ')}`);
  if (typeof kid !== 'string' || kid === '') return problem('kid must be a non-empty string');
  if (all.findIndex((each) => each.kid === kid) !== index)
    return problem('another KeySigner has the same kid');
  if (typeof signer.sign !== 'function') return problem('sign must be a function');
  if (signsFrom !== undefined && (!Number.isSafeInteger(signsFrom) || signsFrom <= 0))
    return problem('signsFrom must be milliseconds since 1970');
  if (
    timeout !== undefined &&
    !(Number.isInteger(timeout) && timeout > 0 && timeout <= LONGEST_TIMEOUT)
  )
    return problem(`timeout must be between 1 and ${LONGEST_TIMEOUT} milliseconds`);
  return publicKeyProblem(algorithms.form(algorithm), kid, publicJwk).flatMap(problem);
}

function publicKeyProblem(form: AlgorithmForm, kid: string, publicJwk: JWK): readonly string[] {
  const { name: algorithm, kind, type } = form;
  const wanted = `publicJwk must be a public ${kind} key, for ${algorithm}`;
  if (typeof publicJwk !== 'object' || publicJwk === null) return [wanted];
  if (publicJwk.d !== undefined)
    return ['publicJwk must not contain the private key; keep it in your key service'];
  if (publicJwk.kty !== type.kty || publicJwk.crv !== type.crv) return [wanted];
  try {
    const key = getPublicKey(form, kid, publicJwk);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 2048;
    return bits < 2048 ? [`${wanted}, of at least 2048 bits`] : [];
  } catch {
    return [wanted];
  }
}

function getPublicKey(form: AlgorithmForm, kid: string, publicJwk: JWK): KeyObject {
  return createPublicKey({ key: publishedJwk(publicJwk, kid, form), format: 'jwk' });
}

function buildSigningKey(signer: KeySigner, form: AlgorithmForm): SigningKey {
  const { algorithm, kid, publicJwk, signsFrom = 0 } = signer;
  const publicKey = getPublicKey(form, kid, publicJwk);
  return {
    kid,
    algorithm,
    hash: form.hash,
    createdAt: 0,
    signsFrom,
    isStaged: signsFrom > 0,
    file: null,
    privateKey: null,
    publicJwk: publishedJwk(publicJwk, kid, form),
    async sign(data) {
      const signature = await askSigner(signer, data);
      if (await isSignature(form, publicKey, data, signature)) return signature;
      throw new SignerError(kid, whatIsWrong(form, signature));
    },
  };
}

/** Throws if the signer does not respond within its time limit. */
async function askSigner(signer: KeySigner, data: Uint8Array): Promise<Uint8Array> {
  const { kid, timeout = DEFAULT_TIMEOUT } = signer;
  const patience = new AbortController();
  const late = () => {
    patience.abort();
    return new SignerError(kid, `did not respond within ${timeout} ms`);
  };
  return readSignature(kid, await inTime(asked(signer, data, patience.signal), timeout, late));
}

function readSignature(kid: string, answer: unknown): Uint8Array {
  try {
    if (answer instanceof Uint8Array) return Uint8Array.from(answer);
  } catch {
    // The bytes cannot be read if the signer has transferred them, for example to another thread.
  }
  throw new SignerError(kid, 'did not return a Uint8Array');
}

async function asked(signer: KeySigner, data: Uint8Array, signal: AbortSignal): Promise<unknown> {
  try {
    // Pass a copy. The signer must not change the bytes before the signature is verified.
    return await signer.sign(Uint8Array.from(data), { signal });
  } catch (error) {
    throw failed(signer.kid, error);
  }
}

/**
 * Keeps only the class and the code of the error. Its message may contain a password, for example
 * in a command line.
 */
function failed(kid: string, error: unknown): SignerError {
  try {
    const name = error instanceof Error && PLAIN.test(error.name) ? error.name : 'an error';
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return new SignerError(kid, `failed: ${name}${PLAIN.test(code) ? `, ${code}` : ''}`);
  } catch {
    // The properties of the error cannot be read.
    return new SignerError(kid, 'failed: an error');
  }
}

const PLAIN = /^\w{1,40}$/;

const verifyOnPool = promisify(verify);

/**
 * Returns true if the public key verifies the signature. Clients would refuse an ID token with a
 * wrong one.
 */
async function isSignature(
  form: AlgorithmForm,
  publicKey: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  return verifyOnPool(
    getDigest(form),
    data,
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    signature,
  );
}

function whatIsWrong({ name, encodingProblem }: AlgorithmForm, signature: Uint8Array): string {
  const problem = encodingProblem?.(signature) ?? null;
  if (problem !== null) return `answered ${problem}`;
  return (
    `returned ${signature.length} bytes, which are not a valid ${name} signature for its ` +
    'public key'
  );
}
