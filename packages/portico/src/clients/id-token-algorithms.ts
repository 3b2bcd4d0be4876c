import { RegistrationError } from '../errors.ts';
import { DEFAULT_ALGORITHM, missingKey } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { quoted } from '../quoting.ts';
import type { SigningAlgorithm } from '../store/client.ts';

/** Returns the first of these algorithms for which the server has a key, or null. */
export async function firstWithKey(
  algorithms: readonly SigningAlgorithm[],
  keys: KeyRing,
): Promise<SigningAlgorithm | null> {
  const known = await keys.all();
  return algorithms.find((each) => known.some((key) => key.algorithm === each)) ?? null;
}

/**
 * Returns the algorithm that signs the client's ID tokens. `preferred` lists the algorithms of the
 * client's profile. It is null if all are allowed.
 *
 * - For a requested algorithm: throws if it is unknown, if the server has no key for it, or if the
 *   client cannot get ID tokens.
 * - Otherwise: returns RS256 if `preferred` is null or if the client does not have the scope
 *   `openid`. In all other cases, returns the first algorithm in `preferred` for which the server
 *   has a key. Throws if it has a key for none of them.
 */
export async function checkAlgorithm(
  requested: string | undefined,
  { scopes, isForPeople }: { readonly scopes: readonly string[]; readonly isForPeople: boolean },
  keys: KeyRing,
  preferred: readonly SigningAlgorithm[] | null,
): Promise<SigningAlgorithm> {
  if (requested === undefined) {
    if (preferred === null || !scopes.includes('openid')) return DEFAULT_ALGORITHM;
    const offered = await firstWithKey(preferred, keys);
    if (offered !== null) return offered;
    const { command } = missingKey(preferred[0] ?? DEFAULT_ALGORITHM);
    throw new RegistrationError(
      `The server has no signing key for ${preferred.join(' or ')}; run npx portico ` +
        `${command} first`,
    );
  }
  if (!keys.algorithms.has(requested)) {
    throw new RegistrationError(
      // A client that registers itself can send any string, and the message is logged.
      `The ID token algorithm ${quoted(requested)} is unknown; use one of ` +
        keys.algorithms.names.join(', '),
    );
  }
  if (!scopes.includes('openid') || !isForPeople) {
    throw new RegistrationError(
      'An ID token needs the scope openid and a --redirect; add both, or remove --id-token-alg',
    );
  }
  if (!(await keys.all()).some((key) => key.algorithm === requested)) {
    const { key, command } = missingKey(requested);
    throw new RegistrationError(`The server has ${key}; run npx portico ${command} first`);
  }
  return requested;
}
