import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordHasher } from 'portico';
import { FairQueue, currentCaller } from 'portico/extension';

/**
 * Stores client secrets from another server that kept only their hashes. The host's password hasher
 * hashes the other server's hash again. The secret itself is never known. Decision 59 explains why.
 * These forms are stored:
 *
 * - `imported$sha256$<hash>`: the host's hash of the secret's SHA-256, in hexadecimal digits
 * - `imported$pbkdf2_sha256$<iterations>$<salt, base64url>$<hash>`: the host's hash of the result
 *   of PBKDF2-HMAC-SHA256 (RFC 8018 section 5.2), in hexadecimal digits
 */
const IMPORTED = 'imported$';
const SHA256 = `${IMPORTED}sha256$`;
const PBKDF2 = /^imported\$pbkdf2_sha256\$(\d{1,8})\$([\w-]+)\$(.*)$/s;

/** A hash from the other server: its kind, and its value in hexadecimal digits. */
export type ForeignHash =
  | { readonly kind: 'sha256'; readonly digest: string }
  | {
      readonly kind: 'pbkdf2_sha256';
      readonly digest: string;
      readonly iterations: number;
      /** The salt that the other server used. */
      readonly salt: Buffer;
    };

/** Hashes a foreign hash. Returns the stored form. */
export async function wrapHash(foreign: ForeignHash, hasher: PasswordHasher): Promise<string> {
  const inner = await hasher.hash(foreign.digest);
  if (foreign.kind === 'sha256') return `${SHA256}${inner}`;
  return `${IMPORTED}pbkdf2_sha256$${foreign.iterations}$${foreign.salt.toString('base64url')}$${inner}`;
}

/** Whether the stored hash was created from this foreign hash. */
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

/** Whether this is a hash of an empty secret. */
export async function isOfNothing(foreign: ForeignHash): Promise<boolean> {
  if (foreign.kind === 'sha256') return foreign.digest === createHash('sha256').digest('hex');
  const derived = await deriveWithNode('', foreign.salt, foreign.iterations);
  return foreign.digest === derived.toString('hex');
}

/** Returns 32 bytes, derived with PBKDF2-HMAC-SHA256. */
export type Derive = (secret: string, salt: Buffer, iterations: number) => Promise<Buffer>;

/** The same limits as for password hashes, because PBKDF2 also uses a thread from Node's pool. */
const LINE = { atOnce: 2, mostWaiting: 200, mostOfOne: 100 } as const;

/**
 * Extends the host's hasher, so that it also verifies imported hashes. The work is the same for
 * every hash: the same number of iterations, and one host hash. So the time does not reveal
 * anything about the client, or whether it exists. A hash that needs more iterations is always
 * wrong.
 *
 * `iterations` is the most PBKDF2 iterations that an imported hash may have
 * (`oauth_server:imported_pbkdf2_iterations`). Every secret that is not known yet takes this many.
 * 0 if no imported hash uses PBKDF2. Tests replace `derive` to count calls.
 */
export function createImportedSecrets(
  passwordHasher: PasswordHasher,
  iterations: number,
  derive: Derive = deriveWithNode,
): PasswordHasher {
  const line = new FairQueue(LINE);

  /**
   * Derives the secret with this salt and number of iterations. Then does the rest of the work, so
   * that every secret takes the same time. There are always two calls, because switching to another
   * thread also takes time. In total, they do one iteration more than the limit.
   */
  async function deriveAll(secret: string, salt: Buffer, own: number): Promise<Buffer> {
    const derived = await derive(secret, salt, own);
    await derive(secret, NO_SALT, iterations - own + 1);
    return derived;
  }

  /** Returns the value to pass to the host's hasher, and the hash with which to compare it. */
  async function prepare(
    secret: string,
    hash: string,
  ): Promise<readonly [secret: string, hash: string]> {
    const found = readPbkdf2(hash);
    const own =
      found === null || found.iterations === 0 || found.iterations > iterations ? null : found;
    const [salt, count] = [own?.salt ?? NO_SALT, own?.iterations ?? iterations];
    // Queue only once for all of the work, so that every client waits equally long.
    const derived =
      iterations === 0
        ? null
        : await line.run(currentCaller(), () => deriveAll(secret, salt, count));
    // Computed for every hash, because it costs almost nothing.
    const digest = createHash('sha256').update(secret).digest('hex');
    if (derived !== null && own !== null) return [derived.toString('hex'), own.inner];
    if (hash.startsWith(SHA256)) return [digest, hash.slice(SHA256.length)];
    // If the hash needs too many iterations, it must not match. Never accept the hash's text
    // itself, because an attacker may have read it on the other server.
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
 * Returns how many PBKDF2 iterations this stored hash needs. Returns 0 for any other kind of hash.
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
