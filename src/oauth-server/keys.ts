import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { JWK } from 'jose';
import type { Log } from '../contracts/log.ts';
import { LONGEST_LIFETIME } from '../contracts/lifetimes.ts';
import { randomIdentifier } from './crypto.ts';
import type { SigningAlgorithm } from './store/client.ts';

/** Of what has not been asked for otherwise: the one that every OpenID Connect client must know. */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** The keys of an algorithm (RFC 7518 section 6, RFC 8037 section 2). */
interface KeyForm {
  readonly kind: string;
  readonly type: Pick<JWK, 'kty' | 'crv'>;
  /** The public members beside those. */
  readonly members: readonly (keyof JWK)[];
  /** Of the name of its file, before `.json`. */
  readonly mark: string;
}

const FORMS: Readonly<Record<SigningAlgorithm, KeyForm>> = {
  RS256: { kind: 'RSA', type: { kty: 'RSA' }, members: ['n', 'e'], mark: '' },
  ES256: { kind: 'P-256', type: { kty: 'EC', crv: 'P-256' }, members: ['x', 'y'], mark: '.ES256' },
  EdDSA: { kind: 'Ed25519', type: { kty: 'OKP', crv: 'Ed25519' }, members: ['x'], mark: '.EdDSA' },
};

export const SIGNING_ALGORITHMS = Object.keys(FORMS) as readonly SigningAlgorithm[];

/** What is hashed before it is signed; Ed25519 hashes by itself. */
export const DIGESTS: Readonly<Record<SigningAlgorithm, string | null>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  EdDSA: null,
};

/** What the log and refusals say of a key that is not there, and the command that makes one. */
export function missingKey(algorithm: SigningAlgorithm): { readonly key: string; readonly command: string } {
  return algorithm === DEFAULT_ALGORITHM
    ? { key: 'no signing key', command: 'oauth:server:setup' }
    : { key: `no signing key for ${algorithm}`, command: `oauth:keys:generate --alg ${algorithm}` };
}

/** A signing key of the key directory. */
export interface SigningKey {
  /** The key's identifier in the key set and in ID tokens: its thumbprint (RFC 7638) when it was generated here. */
  readonly kid: string;
  /** What it signs with, and nothing else. */
  readonly algorithm: SigningAlgorithm;
  /** When it was generated, milliseconds since 1970; it signs from then until the next one of its algorithm is generated. */
  readonly createdAt: number;
  /** Never leaves the process. */
  readonly privateKey: KeyObject;
  /** As published, without any private part. */
  readonly publicJwk: JWK;
}

/**
 * The keys of one directory, which several processes may share. A key is a file, written once and never changed: the
 * newest one of each algorithm signs, all are published. So a key generated anywhere signs everywhere, without a restart.
 */
export interface KeyRing {
  /**
   * The key that signs with the algorithm (RS256 unless given) now, or null when there is none. Another process's new key is
   * seen within a second. Like `all` and `published`, it throws a KeysLostError when this process knew keys and the directory
   * shows none any more.
   */
  active(algorithm?: SigningAlgorithm): Promise<SigningKey | null>;
  /** All keys, newest first, as the directory holds them at this moment. */
  all(): Promise<readonly SigningKey[]>;
  /**
   * The same for the key set, which many ask for: as of ten milliseconds ago at most, and the same array until they change.
   * Whatever has signed is among them.
   */
  published(): Promise<readonly SigningKey[]>;
  /**
   * Adds a key for the algorithm (RS256 unless given), which signs from now on. Nothing else ever makes one. Throws a
   * RangeError for another algorithm.
   */
  generate(algorithm?: SigningAlgorithm): Promise<SigningKey>;
  /**
   * Removes the retired keys that stopped signing at least so many seconds ago, never an algorithm's active one; returns their kids.
   * Throws a RangeError for an age below an ID token's lifetime, since a token could outlive the key that proves it, and
   * for one above a century.
   */
  prune(olderThan: number): Promise<readonly string[]>;
}

/** Keys were known, and the directory is gone, empty or cannot be read: without them nothing can be signed or proved. */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** Like an unreachable store: it may be back soon. */
  readonly status = 503;

  constructor(directory: string, cause: unknown) {
    super(`The signing keys that were in ${directory} are gone, or cannot be read`, { cause });
  }
}

/** Without an algorithm it is RS256; a release that knows no other passes over the rest. */
const KEY_FILE = /^(\d+)-[A-Za-z0-9_-]+(?:\.(ES256|EdDSA))?\.json$/;
/** How old a listing of the directory may be that decides which key signs, in milliseconds. */
const RELOAD_AFTER = 1000;
/** How old a listing may be that the key set is made from, in milliseconds: one for each request would double its cost. */
const LOOK_HOLDS = 10;
/** For how long after a change the directory is listed at each request, in milliseconds: changes seldom come alone. */
const RECENT_CHANGE = 1000;

export interface KeyRingOptions {
  /** The key directory, absolute. */
  readonly directory: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Seconds. */
  readonly idTokenLifetime: number;
  readonly log: Log;
}

/** What the last listing of the directory found. */
interface KnownKeys {
  readonly keys: readonly SigningKey[];
  /** The names of their files. */
  readonly names: string;
  /** Whether each file could be read; one that could not is tried again. */
  readonly complete: boolean;
}

export function createKeyRing({ directory, clock, idTokenLifetime, log }: KeyRingOptions): KeyRing {
  const loaded = new Map<string, Promise<SigningKey>>();
  let known: KnownKeys | null = null;
  /** Whether there ever were keys here. */
  let hadKeys = false;
  // Durations are measured with `performance.now()`, which is never set back.
  let looking: Promise<readonly SigningKey[]> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;

  function look(): Promise<readonly SigningKey[]> {
    lookedAt = performance.now();
    const keys = readAll();
    looking = keys;
    // A look that failed is not used again.
    keys.catch(() => {
      if (looking === keys) looking = null;
    });
    return keys;
  }

  /** The last look, if it began less than so many milliseconds ago; else a new one. */
  function lookWithin(milliseconds: number): Promise<readonly SigningKey[]> {
    return looking !== null && performance.now() - lookedAt < milliseconds ? looking : look();
  }

  async function readAll(): Promise<readonly SigningKey[]> {
    const files = await keyFiles(directory).catch((error: unknown) => {
      if (!hadKeys) throw error;
      return lost(error);
    });
    if (files.length === 0 && hadKeys) return lost();
    hadKeys ||= files.length > 0;
    const names = files.sort(newestFirst).join();
    if (known?.names === names && known.complete) return known.keys;
    const keys = await load(files);
    if (known?.names !== names) changedAt = performance.now();
    known = { keys, names, complete: keys.length === files.length };
    return keys;
  }

  function lost(cause?: unknown): never {
    known = null;
    throw new KeysLostError(directory, cause);
  }

  async function load(files: readonly string[]): Promise<readonly SigningKey[]> {
    for (const name of loaded.keys()) if (!files.includes(name)) loaded.delete(name);
    const newest = new Set(
      SIGNING_ALGORITHMS.map((each) => files.find((name) => algorithmOf(name) === each)),
    );
    const keys = await Promise.all(
      files.map((name) => (newest.has(name) ? loadOnce(name) : loadRetired(name))),
    );
    return keys.filter((key) => key !== null);
  }

  /** The newest key of an algorithm must be readable. A retired one that cannot be read is left out. */
  function loadRetired(name: string): Promise<SigningKey | null> {
    const key = loadOnce(name);
    return key.catch((exception: unknown) => {
      log.error('A retired signing key is left out: {exception}', { exception });
      return null;
    });
  }

  function loadOnce(name: string): Promise<SigningKey> {
    let key = loaded.get(name);
    if (key === undefined) {
      key = readKey(directory, name);
      key.catch(() => loaded.delete(name));
      loaded.set(name, key);
    }
    return key;
  }

  return {
    all: look,
    published: () => lookWithin(performance.now() - changedAt < RECENT_CHANGE ? 0 : LOOK_HOLDS),
    async active(algorithm = DEFAULT_ALGORITHM) {
      const key = (await lookWithin(RELOAD_AFTER)).find((each) => each.algorithm === algorithm) ?? null;
      // A new key signs only once no process publishes a listing from before it was there.
      if (performance.now() - changedAt < LOOK_HOLDS) await setTimeout(2 * LOOK_HOLDS);
      return key;
    },
    async generate(algorithm = DEFAULT_ALGORITHM) {
      if (!SIGNING_ALGORITHMS.includes(algorithm)) {
        throw new RangeError(`A signing key is for one of ${SIGNING_ALGORITHMS.join(', ')}`);
      }
      const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose');
      const pair = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
      const jwk = await exportJWK(pair.privateKey);
      const kid = await calculateJwkThumbprint(jwk);
      // Another machine's clock may be ahead of this one, yet the new key is the one to sign from now on.
      const newest = (await look())[0]?.createdAt ?? 0;
      const createdAt = Math.max(clock(), newest + 1);
      const name = fileName({ createdAt, kid, algorithm });
      const content = { ...jwk, kid, alg: algorithm, use: 'sig' };
      await writeOnce(directory, name, `${JSON.stringify(content, null, 2)}\n`);
      const key = await loadOnce(name);
      await look();
      return key;
    },
    async prune(olderThan) {
      if (!Number.isInteger(olderThan) || olderThan < idTokenLifetime) {
        throw new RangeError(
          `The age must be at least oauth_server:id_token_ttl, ${idTokenLifetime} seconds`,
        );
      }
      if (olderThan > LONGEST_LIFETIME) {
        throw new RangeError(`The age must be at most ${LONGEST_LIFETIME} seconds, a century`);
      }
      const keys = await look();
      // A key stopped signing when the next one of its algorithm was generated, and in other processes at their next look.
      const removable = keys.filter((key, index) => {
        const next = keys.slice(0, index).findLast(({ algorithm }) => algorithm === key.algorithm);
        return next !== undefined && next.createdAt + RELOAD_AFTER + olderThan * 1000 <= clock();
      });
      // By the name that it was read from: what a file says of itself names no file. Another process may be at it too.
      const files = await Promise.all(
        [...loaded].map(async ([name, reading]) => {
          const key = await reading.catch(() => null);
          return key !== null && removable.includes(key) ? [name] : [];
        }),
      );
      await Promise.all(files.flat().map((name) => rm(path.join(directory, name), { force: true })));
      await look();
      return removable.map(({ kid }) => kid);
    },
  };
}

/** By the time in the name; at the same time, by the name itself. */
function newestFirst(one: string, other: string): number {
  const createdAt = (name: string) => Number(KEY_FILE.exec(name)?.[1]);
  return createdAt(other) - createdAt(one) || (one < other ? 1 : -1);
}

function algorithmOf(name: string): SigningAlgorithm {
  return (KEY_FILE.exec(name)?.[2] as SigningAlgorithm | undefined) ?? DEFAULT_ALGORITHM;
}

function fileName({ createdAt, kid, algorithm }: Omit<SigningKey, 'privateKey' | 'publicJwk'>): string {
  return `${createdAt}-${kid}${FORMS[algorithm].mark}.json`;
}

async function keyFiles(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => KEY_FILE.test(name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readKey(directory: string, name: string): Promise<SigningKey> {
  const file = path.join(directory, name);
  try {
    const jwk = JSON.parse(await readFile(file, 'utf8')) as JWK;
    const algorithm = algorithmOf(name);
    const { kind, type, members } = FORMS[algorithm];
    const { kid } = jwk;
    const fits = jwk.kty === type.kty && jwk.crv === type.crv;
    const hasKid = typeof kid === 'string' && kid !== '';
    if (!fits || !hasKid || [...members, 'd' as const].some((each) => jwk[each] === undefined)) {
      throw new Error(`it is not a private ${kind} key with a kid`);
    }
    if ((jwk.alg ?? algorithm) !== algorithm || (jwk.use ?? 'sig') !== 'sig') {
      throw new Error(`it is not for signing with ${algorithm}`);
    }
    const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
    // RFC 7518 section 3.3.
    if (algorithm === 'RS256' && (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
      throw new Error('it has less than 2048 bits');
    const published = Object.fromEntries(members.map((each) => [each, jwk[each]]));
    const publicJwk = { ...type, ...published, kid, alg: algorithm, use: 'sig' };
    // Of a key that is put together from two, everything can be read, and nobody could verify what it signs.
    const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
    const text = Buffer.from(kid);
    if (!verify(DIGESTS[algorithm], text, publicKey, sign(DIGESTS[algorithm], text, privateKey)))
      throw new Error('its public part does not verify what its private part signs');
    const createdAt = Number(KEY_FILE.exec(name)?.[1]);
    return { kid, algorithm, createdAt, privateKey, publicJwk };
  } catch (cause) {
    throw new Error(`The signing key ${file} cannot be read`, { cause });
  }
}

/** Writes a file that readers see whole or not at all, and that only this user may read. */
async function writeOnce(directory: string, name: string, content: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = path.join(directory, `.draft-${randomIdentifier()}`);
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path.join(directory, name));
}
