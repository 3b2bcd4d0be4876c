/** Hashes passwords and client secrets. Hashing is slow on purpose. */
export interface PasswordHasher {
  /** Returns a PHC string with the hash, a new salt and the parameters. */
  hash(password: string): Promise<string>;
  /** Whether the password matches the hash. False for a malformed hash. */
  verify(password: string, hash: string): Promise<boolean>;
}
