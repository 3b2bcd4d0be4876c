/** Hashes passwords and client secrets. Hashing is intentionally slow. */
export interface PasswordHasher {
  /**
   * Hashes a password with a new salt. The result contains the hash, the salt and the parameters,
   * for example as a PHC string.
   */
  hash(password: string): Promise<string>;
  /** Returns true if the password matches. Returns false if the hash is malformed. */
  verify(password: string, hash: string): Promise<boolean>;
}
