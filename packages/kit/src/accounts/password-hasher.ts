import type { PasswordHasher } from '../../../portico/src/contracts/password-hasher.ts';
import { createArgon2id, type Argon2idOptions } from '../../../portico/src/defaults/argon2id.ts';
import { networkOf } from '../../../portico/src/http/addresses.ts';
import { currentAddress } from './request-context.ts';

/**
 * argon2id with parameters that OWASP recommends: 46 MiB, one pass, one lane. Hashes are PHC strings. Networks take turns: a hash
 * waits behind those that others of the same network asked for.
 */
export function argon2idHasher(options: Argon2idOptions = {}): PasswordHasher {
  return createArgon2id(options, () => networkOf(currentAddress()));
}
