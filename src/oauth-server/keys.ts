import { createPrivateKey, type KeyObject } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { JWK } from 'jose';
import type { Log } from '../contracts/log.ts';
import { LONGEST_LIFETIME } from './config.ts';
import { randomIdentifier } from './crypto.ts';

/** The one signature algorithm of ID tokens: the one that every OpenID Connect client must know. */
export const SIGNING_ALGORITHM = 'RS256';

/** A signing key of the key directory. */
export interface SigningKey {
  /** The key's identifier in the key set and in ID tokens: its thumbprint (RFC 7638) when it was generated here. */
  readonly kid: string;
  /** When it was generated, milliseconds since 1970; it signs from then until the next one is generated. */
  readonly createdAt: number;
  /** Never leaves the process. */
  readonly privateKey: KeyObject;
  /** As published, without any private part. */
  readonly publicJwk: JWK;
}

/**
 * The keys of one directory, which several processes may share. A key is a file, written once and never changed: the
 * newest one signs, all are published. So a key generated anywhere signs everywhere, without a restart.
 */
export interface KeyRing {
  /**
   * The key that signs now, or null when there is none. Another process's new key is seen within a second. As `all` and
   * `published`, it throws a KeysLostError when this process knew keys and the directory shows none any more.
   */
  active(): Promise<SigningKey | null>;
  /** All keys, newest first, as the directory holds them at this moment. */
  all(): Promise<readonly SigningKey[]>;
  /** The same for the key set, of which many ask: as of ten milliseconds ago at most, and read again when it has changed. */
  published(): Promise<readonly SigningKey[]>;
  /** Adds a key, which signs from now on. Nothing else ever makes one. */
  generate(): Promise<SigningKey>;
  /**
   * Removes the retired keys that stopped signing at least so many seconds ago, never the active one; answers their kids.
   * Throws a RangeError for an age below an ID token's lifetime, since a token could outlive the key that proves it, and
   * for one above a century.
   */
  prune(olderThan: number): Promise<readonly string[]>;
}

/** Keys were known, and the directory is gone, empty or cannot be read: without them nothing can be signed or proved. */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** Answered as an unreachable store is: it may be back soon. */
  readonly status = 503;

  constructor(directory: string, cause: unknown) {
    super(`The signing keys that were in ${directory} are gone, or cannot be read`, { cause });
  }
}

const KEY_FILE = /^(\d+)-[A-Za-z0-9_-]+\.json$/;
const RELOAD_AFTER = 1000;
/** How long a look at the directory holds for the key set, in milliseconds: a new key signs no sooner than all have seen it. */
const LOOK_HOLDS = 10;

export interface KeyRingOptions {
  /** The key directory, absolute. */
  readonly directory: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Seconds. */
  readonly idTokenLifetime: number;
  readonly log: Log;
}

export function createKeyRing({ directory, clock, idTokenLifetime, log }: KeyRingOptions): KeyRing {
  const loaded = new Map<string, Promise<SigningKey>>();
  // What is held for moments is held by `performance`, whose time never goes back.
  let active: { key: SigningKey | null; readAt: number } | null = null;
  /** Whether there ever were keys here. */
  let hadKeys = false;
  /** When the active key was first seen here. */
  let seenAt = Number.NEGATIVE_INFINITY;

  let listed: Listed | null = null;
  let looking: Promise<string | null> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  /** Those who ask at about the same time look once. */
  function look(): Promise<string | null> {
    if (looking === null || performance.now() - lookedAt >= LOOK_HOLDS) {
      lookedAt = performance.now();
      looking = stateOf(directory);
    }
    return looking;
  }

  async function all(): Promise<readonly SigningKey[]> {
    const state = await stateOf(directory);
    const names = await keyFiles(directory).catch((error: unknown) => {
      if (!hadKeys) throw error;
      return lost(error);
    });
    if (names.length === 0 && hadKeys) return lost(null);
    hadKeys ||= names.length > 0;
    for (const name of loaded.keys()) if (!names.includes(name)) loaded.delete(name);
    names.sort(newestFirst);
    const keys = (await Promise.all(names.map((name, index) => loadUnlessRetired(name, index)))).filter(
      (key) => key !== null,
    );
    if (active?.key?.kid !== keys[0]?.kid) seenAt = performance.now();
    active = { key: keys[0] ?? null, readAt: performance.now() };
    // What could not be read is tried again at the next request.
    listed = state === null || keys.length < names.length ? null : { keys, state, readAt: performance.now() };
    return keys;
  }

  function lost(cause: unknown): never {
    active = null;
    listed = null;
    throw new KeysLostError(directory, cause);
  }

  /** A retired key that cannot be read proves nothing any more, and stops nothing either. The newest one must be read. */
  function loadUnlessRetired(name: string, index: number): Promise<SigningKey | null> {
    const key = loadOnce(name);
    if (index === 0) return key;
    return key.catch((exception: unknown) => {
      log.error('A retired signing key is left out: {exception}', { exception });
      return null;
    });
  }

  function loadOnce(name: string): Promise<SigningKey> {
    let key = loaded.get(name);
    if (key === undefined) {
      key = readKey(directory, name);
      // A file that could not be read now may be readable at the next request.
      key.catch(() => loaded.delete(name));
      loaded.set(name, key);
    }
    return key;
  }

  return {
    all,
    async published() {
      const state = await look();
      const isFresh =
        listed !== null && state === listed.state && performance.now() - listed.readAt < RELOAD_AFTER;
      return listed !== null && isFresh ? listed.keys : all();
    },
    async active() {
      const isFresh = active !== null && performance.now() - active.readAt < RELOAD_AFTER;
      const key = active !== null && isFresh ? active.key : ((await all())[0] ?? null);
      // By then every process has looked again, and publishes it.
      if (performance.now() - seenAt < LOOK_HOLDS) await setTimeout(2 * LOOK_HOLDS);
      return key;
    },
    async generate() {
      const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose');
      const pair = await generateKeyPair(SIGNING_ALGORITHM, { modulusLength: 2048, extractable: true });
      const jwk = await exportJWK(pair.privateKey);
      const kid = await calculateJwkThumbprint(jwk);
      // Another machine's clock may be ahead of this one, yet the new key is the one to sign from now on.
      const newest = (await all())[0]?.createdAt ?? 0;
      const createdAt = Math.max(clock(), newest + 1);
      const name = fileName(createdAt, kid);
      const content = { ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' };
      await writeOnce(directory, name, `${JSON.stringify(content, null, 2)}\n`);
      const key = await loadOnce(name);
      await all();
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
      const keys = await all();
      // A key stopped signing when the next one was generated; other processes noticed at their next look.
      const removable = keys.filter((_, index) => {
        const next = keys[index - 1];
        return next !== undefined && next.createdAt + RELOAD_AFTER + olderThan * 1000 <= clock();
      });
      await Promise.all(
        removable.map(({ createdAt, kid }) => unlink(path.join(directory, fileName(createdAt, kid)))),
      );
      await all();
      return removable.map(({ kid }) => kid);
    },
  };
}

/** By the time in the name; of two of one moment by the rest of it. */
function newestFirst(one: string, other: string): number {
  const createdAt = (name: string) => Number(KEY_FILE.exec(name)?.[1]);
  return createdAt(other) - createdAt(one) || (one < other ? 1 : -1);
}

function fileName(createdAt: number, kid: string): string {
  return `${createdAt}-${kid}.json`;
}

/** The keys as they were read, and the directory's state then; when, in milliseconds of `performance`. */
interface Listed {
  readonly keys: readonly SigningKey[];
  readonly state: string;
  readonly readAt: number;
}

/** How long the time of a directory's last change may hide a second change, in milliseconds. */
const ONE_TICK = 1000;

/** Changes whenever a file is added or removed; null when that cannot be told, as for a moment after a change. */
async function stateOf(directory: string): Promise<string | null> {
  const stats = await stat(directory).catch(() => null);
  if (stats === null || Date.now() - stats.mtimeMs < ONE_TICK) return null;
  return `${stats.dev}/${stats.ino}/${stats.mtimeMs}`;
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
    const { kty, n, e, kid } = jwk;
    if (kty !== 'RSA' || n === undefined || e === undefined || kid === undefined || jwk.d === undefined) {
      throw new Error('it is not a private RSA key with a kid');
    }
    if ((jwk.alg ?? SIGNING_ALGORITHM) !== SIGNING_ALGORITHM || (jwk.use ?? 'sig') !== 'sig') {
      throw new Error(`it is not for signing with ${SIGNING_ALGORITHM}`);
    }
    const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
    // RFC 7518 section 3.3.
    if ((privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
      throw new Error('it has less than 2048 bits');
    const createdAt = Number(KEY_FILE.exec(name)?.[1]);
    return { kid, createdAt, privateKey, publicJwk: { kty, n, e, kid, alg: SIGNING_ALGORITHM, use: 'sig' } };
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
