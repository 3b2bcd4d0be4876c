import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordHasher } from 'portico';
import { FairQueue, currentCaller } from 'portico/extension';

/**
 * The start of each stored hash of a client secret from another server. That server has stored only
 * hashes of its secrets. The secrets themselves are unknown, so the host's password hasher hashes
 * these hashes again (decision 59). A stored hash has one of these forms:
 *
 * - `imported$sha256$<hash>`: the host's hash of the secret's SHA-256 hash, which is in hexadecimal
 * - `imported$pbkdf2_sha256$<iterations>$<salt, base64url>$<hash>`: the host's hash of the
 *   PBKDF2-HMAC-SHA256 result (RFC 8018 section 5.2), which is in hexadecimal
 */
const IMPORTED = 'imported$';
const SHA256 = `${IMPORTED}sha256$`;
const PBKDF2 = /^imported\$pbkdf2_sha256\$(\d{1,8})\$([\w-]+)\$(.*)$/s;

/** A hash from the other server. `digest` is in hexadecimal. */
export type ForeignHash =
  | { readonly kind: 'sha256'; readonly digest: string }
  | {
      readonly kind: 'pbkdf2_sha256';
      readonly digest: string;
      readonly iterations: number;
      /** The salt that the other server used. */
      readonly salt: Buffer;
    };

/** Hashes another server's hash, and returns the value to store. */
export async function wrapHash(foreign: ForeignHash, hasher: PasswordHasher): Promise<string> {
  const inner = await hasher.hash(foreign.digest);
  if (foreign.kind === 'sha256') return `${SHA256}${inner}`;
  return `${IMPORTED}pbkdf2_sha256$${foreign.iterations}$${foreign.salt.toString('base64url')}$${inner}`;
}

/** Whether this stored hash was created from this hash of another server. */
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
 * The limits of the queue for PBKDF2. They are also the default limits for password hashes, because
 * both occupy threads of Node's pool.
 */
const LINE = { atOnce: 2, mostWaiting: 200, mostOfOne: 100 } as const;

/**
 * Extends the host's hasher to also verify imported hashes. Each check does the same work: the same
 * number of PBKDF2 iterations, and one call of the host's hasher. The duration therefore reveals
 * nothing about the client, not even whether it exists. A hash that needs more iterations than the
 * maximum never matches.
 *
 * `iterations` is the maximum number of PBKDF2 iterations for an imported hash
 * (`oauth_server:imported_pbkdf2_iterations`), or 0 if no imported hash uses PBKDF2. Tests replace
 * `derive` to count its calls.
 */
export function createImportedSecrets(
  passwordHasher: PasswordHasher,
  iterations: number,
  derive: Derive = deriveWithNode,
): PasswordHasher {
  const line = new FairQueue(LINE);

  /**
   * Derives the secret with this salt and this number of iterations. Then computes the remaining
   * iterations up to the maximum, so that every secret takes the same time. Always calls `derive`
   * twice, because switching to another thread also takes time. The two calls together compute one
   * iteration more than the maximum.
   */
  async function deriveAll(secret: string, salt: Buffer, own: number): Promise<Buffer> {
    const derived = await derive(secret, salt, own);
    await derive(secret, NO_SALT, iterations - own + 1);
    return derived;
  }

  /**
   * Returns the two arguments for the host's hasher: the value to verify, and the hash to compare
   * it with.
   */
  async function prepare(
    secret: string,
    hash: string,
  ): Promise<readonly [secret: string, hash: string]> {
    const found = readPbkdf2(hash);
    const own =
      found === null || found.iterations === 0 || found.iterations > iterations ? null : found;
    const [salt, count] = [own?.salt ?? NO_SALT, own?.iterations ?? iterations];
    // Wait in the queue only once for both calls. Otherwise, the waiting time could differ between
    // clients.
    const derived =
      iterations === 0
        ? null
        : await line.run(currentCaller(), () => deriveAll(secret, salt, count));
    // Compute the SHA-256 hash even if the stored hash is of another kind. It takes almost no time.
    const digest = createHash('sha256').update(secret).digest('hex');
    if (derived !== null && own !== null) return [derived.toString('hex'), own.inner];
    if (hash.startsWith(SHA256)) return [digest, hash.slice(SHA256.length)];
    // A hash that needs too many iterations must not match. Never accept the other server's hash
    // itself as the secret, because an attacker may have read it on that server.
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

/** Whether this stored hash was created from another server's hash. */
export function isImported(kept: string): boolean {
  return kept.startsWith(IMPORTED);
}

/**
 * Returns the number of PBKDF2 iterations that this stored hash needs, or 0 for all other hashes.
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
