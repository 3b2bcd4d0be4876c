import { RegistrationError } from '../errors.ts';
import { fetchableUrlProblem, portProblem } from '../http/outbound/fetchable-urls.ts';
import {
  hasPrivateMember,
  JwkError,
  readPublicKey,
  VERIFIED_ALGORITHMS,
  type PublicKey,
} from '../keys/jws/public-keys.ts';
import type { ClientKeys } from '../store/client.ts';

/**
 * Checks key sets of clients. A set is stored at registration, or the client publishes it at a URL.
 */

/** The limits of a stored set. They are low: anyone can make the server store a set. */
const MOST_KEPT = 10;
const MOST_CHARACTERS = 4000;
/** The maximum number of keys in a set that the server reads, for example from a client's URL. */
const MOST_PUBLISHED = 50;

/** RFC 7591 section 2. */
export interface NamedKeys {
  readonly jwks?: unknown;
  readonly jwksUri?: string | undefined;
  readonly algorithm?: string | undefined;
}

/**
 * Returns a client's keys as they are stored. With `anyPort`, the `jwks_uri` may have any port.
 * Throws a RegistrationError with an explanation if the keys are invalid.
 */
export function checkClientKeys(
  { jwks, jwksUri, algorithm }: NamedKeys,
  anyPort = false,
): ClientKeys {
  if (algorithm !== undefined && !VERIFIED_ALGORITHMS.some((each) => each === algorithm)) {
    throw new RegistrationError(
      'The signing algorithm of assertions (token_endpoint_auth_signing_alg) must be one ' +
        `of ${VERIFIED_ALGORITHMS.join(', ')}`,
    );
  }
  const kept = { algorithm: algorithm ?? null };
  if (jwksUri === undefined)
    return { ...kept, jwks: checkKeySet(jwks, kept.algorithm), jwksUri: null };
  if (jwks !== undefined)
    throw new RegistrationError('The client has both jwks and jwks_uri; use only one of them');
  const problem = fetchableUrlProblem(jwksUri) ?? portProblem(new URL(jwksUri), anyPort);
  if (problem !== null) throw new RegistrationError(`The jwks_uri ${problem}`);
  return { ...kept, jwks: null, jwksUri };
}

/**
 * Returns a key set as it is stored: only keys that can verify signatures, and only the members
 * that Portico reads.
 */
function checkKeySet(jwks: unknown, algorithm: string | null): string {
  if (jwks === undefined)
    throw new RegistrationError('The client needs its public keys: jwks or jwks_uri');
  const keys = keysIn(jwks);
  if (keys === null)
    throw new RegistrationError('The jwks must be a JSON object with a list of keys (RFC 7517)');
  if (keys.length > MOST_KEPT)
    throw new RegistrationError(`The jwks has more than ${MOST_KEPT} keys`);
  const usable = keys.map(readOrRefuse).filter((key) => key !== null);
  if (
    !usable.some(
      ({ algorithms }) => algorithm === null || algorithms.some((each) => each === algorithm),
    )
  ) {
    throw new RegistrationError(
      `The jwks has no key for ${algorithm ?? VERIFIED_ALGORITHMS.join(', ')}`,
    );
  }
  const text = JSON.stringify({ keys: usable.map(({ jwk }) => jwk) });
  if (text.length > MOST_CHARACTERS)
    throw new RegistrationError(
      `The jwks is too large: the maximum is ${MOST_CHARACTERS} characters`,
    );
  return text;
}

function readOrRefuse(jwk: unknown): PublicKey | null {
  try {
    return readPublicKey(jwk);
  } catch (error) {
    if (error instanceof JwkError)
      throw new RegistrationError(`A key in the jwks ${error.message}`);
    throw error;
  }
}

/**
 * Returns the keys that can verify signatures. Leaves out keys that must not be used, for example
 * weak keys. Returns null if the value is not a key set or has too many keys.
 */
export function readKeySet(value: unknown): readonly PublicKey[] | null {
  return sortKeySet(value)?.usable ?? null;
}

/**
 * Returns the keys that can verify signatures, and the problems of keys that must not be used.
 * Returns null if the value is not a key set or has too many keys.
 */
function sortKeySet(
  value: unknown,
): { readonly usable: readonly PublicKey[]; readonly wrong: readonly string[] } | null {
  const keys = keysIn(value);
  if (keys === null || keys.length > MOST_PUBLISHED) return null;
  const usable: PublicKey[] = [];
  const wrong: string[] = [];
  for (const jwk of keys) {
    try {
      const key = readPublicKey(jwk);
      if (key !== null) usable.push(key);
    } catch (error) {
      if (!(error instanceof JwkError)) throw error;
      wrong.push(error.message);
    }
  }
  return { usable, wrong };
}

/**
 * Returns the problems of a key set, for the client's developer. If `algorithm` is not null, the
 * client may sign only with it.
 */
export function keySetProblems(value: unknown, algorithm: string | null): readonly string[] {
  const sorted = sortKeySet(value);
  if (sorted === null) return [`they are not a set of at most ${MOST_PUBLISHED} keys (RFC 7517)`];
  const { usable, wrong } = sorted;
  const signs = ({ algorithms }: PublicKey) =>
    algorithm === null || algorithms.some((each) => each === algorithm);
  return [
    ...(usable.some(signs) ? [] : [`none of them can verify ${algorithm ?? 'any'} signatures`]),
    ...new Set(wrong.map((each) => `one ${each}`)),
  ];
}

export function showsPrivateKeys(value: unknown): boolean {
  return (keysIn(value) ?? []).some(
    (key) => typeof key === 'object' && key !== null && hasPrivateMember(key),
  );
}

function keysIn(value: unknown): readonly unknown[] | null {
  const keys = (value as { readonly keys?: unknown } | null | undefined)?.keys;
  return Array.isArray(keys) ? (keys as readonly unknown[]) : null;
}
