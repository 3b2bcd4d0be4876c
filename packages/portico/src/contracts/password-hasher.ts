/** Hashes secrets that people remember. Slow on purpose. */
export interface PasswordHasher {
  /** A self-describing hash (PHC string format), with a fresh salt. */
  hash(password: string): Promise<string>;
  /** Whether the password belongs to the hash; false for a malformed hash. */
  verify(password: string, hash: string): Promise<boolean>;
}
