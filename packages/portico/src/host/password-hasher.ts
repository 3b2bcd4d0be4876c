/** Hashes passwords and client secrets. Hashing is intentionally slow. */
export interface PasswordHasher {
  /**
   * Hashes a password with a new salt. Returns a string that contains the hash, the salt and the
   * parameters, for example a PHC string.
   */
  hash(password: string): Promise<string>;
  /** Whether the password matches the hash. Returns false if the hash is malformed. */
  verify(password: string, hash: string): Promise<boolean>;
}
