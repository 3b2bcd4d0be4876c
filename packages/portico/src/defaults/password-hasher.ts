/** Hashes secrets that people remember. Slow on purpose. */
export interface PasswordHasher {
  /** Returns a self-describing hash (PHC string format) with a new salt. */
  hash(password: string): Promise<string>;
  /** Whether the password matches the hash. False for a malformed hash. */
  verify(password: string, hash: string): Promise<boolean>;
}
