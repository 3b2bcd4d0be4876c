import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordHasher } from 'portico';
import { FairQueue, currentCaller } from 'portico/extension';

/**
 * Client secrets of another server, of which that server kept a hash alone. The hash that it kept
 * is hashed once more by the host's password hasher, and the secret itself is never known: decision
 * 59 says why. What is kept:
 *
 * - `imported$sha256$<hash>`: the host's hash of the SHA-256 of the secret, in hexadecimal digits
 * - `imported$pbkdf2_sha256$<iterations>$<salt, base64url>$<hash>`: that of what PBKDF2-HMAC-SHA256
 *   (RFC 8018 section 5.2) derives
 */
const IMPORTED = 'imported$';
const SHA256 = `${IMPORTED}sha256$`;
const PBKDF2 = /^imported\$pbkdf2_sha256\$(\d{1,8})\$([\w-]+)\$(.*)$/s;

/** A hash of the other server: its kind, and its value in hexadecimal digits. */
export type ForeignHash =
  | { readonly kind: 'sha256'; readonly digest: string }
  | {
      readonly kind: 'pbkdf2_sha256';
      readonly digest: string;
      readonly iterations: number;
      /** The secret, hashed as the other server did it. */
      readonly salt: Buffer;
    };

/** The hash of a foreign hash, as it is kept. */
export async function wrapHash(foreign: ForeignHash, hasher: Pick<PasswordHasher, 'hash'>): Promise<string> {
  const inner = await hasher.hash(foreign.digest);
  if (foreign.kind === 'sha256') return `${SHA256}${inner}`;
  return `${IMPORTED}pbkdf2_sha256$${foreign.iterations}$${foreign.salt.toString('base64url')}$${inner}`;
}

/** Whether what is kept was made from this foreign hash. */
export async function isWrapped(
  foreign: ForeignHash,
  kept: string,
  hasher: Pick<PasswordHasher, 'verify'>,
): Promise<boolean> {
  if (foreign.kind === 'sha256') {
    return kept.startsWith(SHA256) && hasher.verify(foreign.digest, kept.slice(SHA256.length));
  }
  const found = readPbkdf2(kept);
  if (found?.iterations !== foreign.iterations || !found.salt.equals(foreign.salt)) return false;
  return hasher.verify(foreign.digest, found.inner);
}

/** Whether the other server made this hash of an empty secret. */
export async function isOfNothing(foreign: ForeignHash): Promise<boolean> {
  if (foreign.kind === 'sha256') return foreign.digest === createHash('sha256').digest('hex');
  const derived = await deriveWithNode('', foreign.salt, foreign.iterations);
  return foreign.digest === derived.toString('hex');
}

/** What PBKDF2-HMAC-SHA256 derives: 32 bytes. */
export type Derive = (secret: string, salt: Buffer, iterations: number) => Promise<Buffer>;

export interface ImportedSecretsOptions {
  /** The host's. */
  readonly passwordHasher: PasswordHasher;
  /**
   * The most iterations of PBKDF2 that an imported hash may have
   * (`oauth_server:imported_pbkdf2_iterations`), which every secret costs that is not known yet; 0
   * where none has any.
   */
  readonly iterations: number;
  /** Node's, unless a test counts. */
  readonly derive?: Derive;
}

/**
 * As many at once as passwords are hashed, and as many may wait: PBKDF2 holds a thread of Node's
 * pool, too.
 */
const LINE = { atOnce: 2, mostWaiting: 200, mostOfOne: 100 } as const;

/**
 * The host's hasher, which knows imported hashes, too. Whatever the hash, verifying does the same
 * work: as many iterations, and the host's hash once, so that the time says nothing of the client,
 * nor whether there is one. A hash of more iterations than these is never right.
 */
export function createImportedSecrets(options: ImportedSecretsOptions): PasswordHasher {
  const { passwordHasher, iterations, derive = deriveWithNode } = options;
  const line = new FairQueue(LINE);

  /**
   * What this salt and so many iterations make of it, then the rest of the work that every secret
   * costs: always twice, and one more than the most in all, since going to another thread and back
   * takes time, too.
   */
  async function deriveAll(secret: string, salt: Buffer, own: number): Promise<Buffer> {
    const derived = await derive(secret, salt, own);
    await derive(secret, NO_SALT, iterations - own + 1);
    return derived;
  }

  /**
   * The value that goes to the host's hasher, and the hash that it is compared with.
   */
  async function prepare(secret: string, hash: string): Promise<readonly [secret: string, hash: string]> {
    const found = readPbkdf2(hash);
    const own = found === null || found.iterations === 0 || found.iterations > iterations ? null : found;
    const [salt, count] = [own?.salt ?? NO_SALT, own?.iterations ?? iterations];
    // One turn in the queue for all of the work, so that every client waits equally long.
    const derived =
      iterations === 0 ? null : await line.run(currentCaller(), () => deriveAll(secret, salt, count));
    // Computed for every hash, because it costs almost nothing.
    const digest = createHash('sha256').update(secret).digest('hex');
    if (derived !== null && own !== null) return [derived.toString('hex'), own.inner];
    if (hash.startsWith(SHA256)) return [digest, hash.slice(SHA256.length)];
    // A hash that takes more iterations than these. Never accept the text of the hash itself: an
    // attacker may have read it on the other server.
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
 * How many iterations of PBKDF2 this stored hash needs. 0 for any other kind of hash.
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
