/** Hashes secrets that people remember. Hashing is slow on purpose. */
export interface PasswordHasher {
  /** Returns a hash in PHC string format, which contains its parameters, with a new salt. */
  hash(password: string): Promise<string>;
  /** Whether the password matches the hash. Returns false for a malformed hash. */
  verify(password: string, hash: string): Promise<boolean>;
}
