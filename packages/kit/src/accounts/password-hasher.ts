import type { Argon2idOptions, PasswordHasher } from 'portico';
import { createArgon2id, findNetwork } from 'portico/extension';
import { currentAddress } from './request-context.ts';

/**
 * Creates a hasher that uses argon2id with the parameters recommended by OWASP: 46 MiB, one pass,
 * one lane. Hashes are PHC strings. Networks take turns in the queue, so many hashes from one
 * network delay only that network. At most 100 hashes of one network and 200 in total can wait.
 * When a limit is exceeded, the hasher rejects a hash with an OverloadedError.
 *
 * @example
 * const hash = await argon2idHasher({ passes: 2 }).hash(password);
 */
export function argon2idHasher(options: Argon2idOptions = {}): PasswordHasher {
  return createArgon2id(options, () => findNetwork(currentAddress()));
}
