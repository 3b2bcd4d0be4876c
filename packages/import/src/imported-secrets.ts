import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordHasher } from 'portico';
import { FairQueue, currentCaller } from 'portico/extension';

/**
 * Stores client secrets from another server that stored only their hashes. The secret itself is
 * unknown, so the host's password hasher hashes the other server's hash again. Decision 59 explains
 * the reasons. A stored hash has one of these forms:
 *
 * - `imported$sha256$<hash>`: the host's hash of the secret's SHA-256, in hexadecimal digits
 * - `imported$pbkdf2_sha256$<iterations>$<salt, base64url>$<hash>`: the host's hash of the result
 *   of PBKDF2-HMAC-SHA256 (RFC 8018 section 5.2), in hexadecimal digits
 */
const IMPORTED = 'imported$';
const SHA256 = `${IMPORTED}sha256$`;
const PBKDF2 = /^imported\$pbkdf2_sha256\$(\d{1,8})\$([\w-]+)\$(.*)$/s;

/** A hash from the other server, in hexadecimal digits, with its kind. */
export type ForeignHash =
  | { readonly kind: 'sha256'; readonly digest: string }
  | {
      readonly kind: 'pbkdf2_sha256';
      readonly digest: string;
      readonly iterations: number;
      /** The salt that the other server used. */
      readonly salt: Buffer;
    };

/** Hashes the hash of another server. Returns the form to store. */
export async function wrapHash(foreign: ForeignHash, hasher: PasswordHasher): Promise<string> {
  const inner = await hasher.hash(foreign.digest);
  if (foreign.kind === 'sha256') return `${SHA256}${inner}`;
  return `${IMPORTED}pbkdf2_sha256$${foreign.iterations}$${foreign.salt.toString('base64url')}$${inner}`;
}

/** Whether the stored hash was created from this hash of another server. */
export async function isWrapped(
  foreign: ForeignHash,
  kept: string,
  hasher: PasswordHasher,
): Promise<boolean> {
  if (foreign.kind === 'sha256') {
    return kept.startsWith(SHA256) && hasher.verify(foreign.digest, kept.slice(SHA256.length));
  }
  const found = readPbkdf2(kept);
  if (found?.iterations !== foreign.iterations || !found.salt.equals(foreign.salt)) return false;
  return hasher.verify(foreign.digest, found.inner);
}

/** Whether this is the hash of an empty secret. */
export async function isOfNothing(foreign: ForeignHash): Promise<boolean> {
  if (foreign.kind === 'sha256') return foreign.digest === createHash('sha256').digest('hex');
  const derived = await deriveWithNode('', foreign.salt, foreign.iterations);
  return foreign.digest === derived.toString('hex');
}

/** Derives 32 bytes from the secret with PBKDF2-HMAC-SHA256. */
export type Derive = (secret: string, salt: Buffer, iterations: number) => Promise<Buffer>;

/**
 * The limits of the queue. These limits are the same as for password hashes, because PBKDF2 also
 * uses a thread of Node's pool.
 */
const LINE = { atOnce: 2, mostWaiting: 200, mostOfOne: 100 } as const;

/**
 * Extends the host's hasher, so that it also verifies imported hashes. Each check does the same
 * work: the same number of PBKDF2 iterations, and one call of the host's hasher. The duration of a
 * check then reveals nothing about the client, not even whether the client exists. A hash that
 * needs more iterations than the limit never matches.
 *
 * `iterations` is the maximum number of PBKDF2 iterations that an imported hash may need
 * (`oauth_server:imported_pbkdf2_iterations`). Use 0 if no imported hash uses PBKDF2. Tests replace
 * `derive` to count its calls.
 */
export function createImportedSecrets(
  passwordHasher: PasswordHasher,
  iterations: number,
  derive: Derive = deriveWithNode,
): PasswordHasher {
  const line = new FairQueue(LINE);

  /**
   * Derives the secret with this salt and this number of iterations. Then does the remaining
   * iterations up to the limit, so that every secret takes the same time. Always calls `derive`
   * twice, because each switch to another thread also takes time. Together, the two calls do one
   * iteration more than the limit.
   */
  async function deriveAll(secret: string, salt: Buffer, own: number): Promise<Buffer> {
    const derived = await derive(secret, salt, own);
    await derive(secret, NO_SALT, iterations - own + 1);
    return derived;
  }

  /** Returns the two arguments for the host's hasher: the value to verify, and the hash. */
  async function prepare(
    secret: string,
    hash: string,
  ): Promise<readonly [secret: string, hash: string]> {
    const found = readPbkdf2(hash);
    const own =
      found === null || found.iterations === 0 || found.iterations > iterations ? null : found;
    const [salt, count] = [own?.salt ?? NO_SALT, own?.iterations ?? iterations];
    // Enter the queue once for both calls. If each call waited in the queue separately, the waiting
    // time could differ between clients.
    const derived =
      iterations === 0
        ? null
        : await line.run(currentCaller(), () => deriveAll(secret, salt, count));
    // Compute the SHA-256 hash for every kind of stored hash. It takes almost no time.
    const digest = createHash('sha256').update(secret).digest('hex');
    if (derived !== null && own !== null) return [derived.toString('hex'), own.inner];
    if (hash.startsWith(SHA256)) return [digest, hash.slice(SHA256.length)];
    // A hash that needs too many iterations must not match. Never accept the hash itself as the
    // secret, because an attacker may have read the hash on the other server.
    return found === null ? [secret, hash] : [digest, found.inner];
  }

  return {
    hash: (secret) => passwordHasher.hash(secret),
    async verify(secret, hash) {
      const [prepared, inner] = await prepare(secret, hash);
      return passwordHasher.verify(prepared, inner);
    },
  };
}

/** Whether this stored hash comes from another server. */
export function isImported(kept: string): boolean {
  return kept.startsWith(IMPORTED);
}

/**
 * Returns the number of PBKDF2 iterations that this stored hash needs. Returns 0 for other kinds of
 * hashes.
 */
export function readIterations(kept: string): number {
  return readPbkdf2(kept)?.iterations ?? 0;
}

const NO_SALT = Buffer.from('no salt');

const deriveWithNode: Derive = (secret, salt, iterations) =>
  promisify(pbkdf2)(secret, salt, iterations, 32, 'sha256');

function readPbkdf2(kept: string) {
  const match = kept.startsWith(IMPORTED) ? PBKDF2.exec(kept) : null;
  if (match === null) return null;
  const [, iterations = '', salt = '', inner = ''] = match;
  return { iterations: Number(iterations), salt: Buffer.from(salt, 'base64url'), inner };
}
