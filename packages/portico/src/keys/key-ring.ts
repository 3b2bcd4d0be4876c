import { setTimeout } from 'node:timers/promises';
import { type Log, OutOfRangeError } from '@portico/sql';
import { LONGEST_LIFETIME } from '../contracts/lifetimes.ts';
import type { Acting, Audit } from '../auditing/audit.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, requireAlgorithm, SIGNING_ALGORITHMS } from './algorithms.ts';
import {
  algorithmOf,
  draftOf,
  fileName,
  keyFiles,
  newestFirst,
  newKey,
  type NewKey,
  readKey,
  removeFile,
  isStagedFile,
} from './key-files.ts';
import { describeKeys, type KeyDescription } from './key-states.ts';
import { notWritten } from './not-written.ts';
import type { KeyRotation, RotationOptions } from './rotation.ts';
import {
  KeyRotationError,
  KeysLostError,
  signingKeyOf,
  signsFromNow,
  type SigningKey,
} from './signing-key.ts';
import { RELOAD_AFTER } from './times.ts';

/**
 * The keys of one directory, which several processes may share, and the server's KeySigners. A key
 * is a file that never changes. The newest key of each algorithm signs; all are published. So a key
 * that is generated anywhere signs everywhere, without a restart. A KeySigner takes precedence over
 * the files of its algorithm.
 */
export interface KeyRing {
  /**
   * The key that signs with the algorithm (RS256 unless given) now, or null. A new key of another
   * process is seen within a second. Like `all` and `published`, it throws a KeysLostError when
   * this process knew keys and the directory no longer has any. `active` and `published` also throw
   * it if there never was a key but the store has authorizations that need one.
   */
  active(algorithm?: SigningAlgorithm): Promise<SigningKey | null>;
  /** All keys that the directory has right now, in the order in which they sign, latest first. */
  all(): Promise<readonly SigningKey[]>;
  /**
   * As `all`, for the key set, which is requested often: at most ten milliseconds old, and the same
   * array until the keys change. Includes every key that has signed.
   */
  published(): Promise<readonly SigningKey[]>;
  /** All keys, with the current state of each and when it may be removed. */
  list(): Promise<readonly KeyDescription[]>;
  /**
   * Adds a key for the algorithm (RS256 unless given), which signs from now on. Only this and
   * `rotate` make keys. Throws a RangeError for another algorithm. Throws a KeyRotationError if a
   * KeySigner signs with it, or the directory cannot be written.
   */
  generate(algorithm?: SigningAlgorithm, acting?: Acting): Promise<SigningKey>;
  /**
   * Replaces keys. Publishes the next key of each algorithm that has one. That key signs after
   * every cache has had time to get it. Removes keys that no living ID token needs. Call it on a
   * schedule: while a key waits for its time, no further one is made. Throws a RangeError for
   * invalid options, and a KeyRotationError if nothing can be done; then nothing has changed.
   */
  rotate(options?: RotationOptions): Promise<KeyRotation>;
  /**
   * Removes retired keys that stopped signing at least `olderThan` seconds ago, but never an
   * algorithm's active key. Returns their kids. Throws a RangeError for an age below an ID token's
   * lifetime, because a token could outlive the key that proves it, and for an age above a century.
   * Throws a KeyRotationError if the directory cannot be written.
   */
  prune(olderThan: number, acting?: Acting): Promise<readonly string[]>;
}

/**
 * The maximum age of a listing for the key set, in milliseconds. One listing per request would
 * double the cost.
 */
const LOOK_HOLDS = 10;
/**
 * How long the answer holds whether the store has authorizations that need a key, in milliseconds.
 */
const NEED_HOLDS = 60_000;
/**
 * How long after a change the directory is listed at each request, in milliseconds. Changes often
 * come in groups.
 */
const RECENT_CHANGE = 1000;

export interface KeyRingOptions {
  /** The absolute path of the key directory. */
  readonly directory: string;
  /** Keys that are not files, in the order in which they sign, latest first. */
  readonly signers: readonly SigningKey[];
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** In seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
  readonly log: Log;
  /**
   * Whether the store has authorizations that had a key. Called only while there is no key, at most
   * once a minute.
   */
  readonly isNeeded: () => Promise<boolean>;
}

/** What the last listing of the directory found. */
interface KnownKeys {
  readonly keys: readonly SigningKey[];
  /** The names of the key files. */
  readonly names: string;
  /** Whether each file could be read. One that could not is tried again. */
  readonly complete: boolean;
}

export function createKeyRing(options: KeyRingOptions): KeyRing {
  const { directory, signers, clock, idTokenLifetime, audit, log, isNeeded } = options;
  const loaded = new Map<string, Promise<SigningKey>>();
  let known: KnownKeys | null = null;
  /** The algorithms that ever had a key file here. */
  const hadKeys = new Set<SigningAlgorithm>();
  // Measure durations with `performance.now()`, which is never set back.
  let looking: Promise<readonly SigningKey[]> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;
  let need: { readonly asked: Promise<boolean>; readonly at: number } | null = null;

  function look(): Promise<readonly SigningKey[]> {
    lookedAt = performance.now();
    const keys = readAll();
    looking = keys;
    // Do not reuse a failed listing.
    keys.catch(() => {
      if (looking === keys) looking = null;
    });
    return keys;
  }

  /** The last listing if it is younger than so many milliseconds, otherwise a new one. */
  function lookWithin(milliseconds: number): Promise<readonly SigningKey[]> {
    return looking !== null && performance.now() - lookedAt < milliseconds ? looking : look();
  }

  async function readAll(): Promise<readonly SigningKey[]> {
    const files = await keyFiles(directory).catch(lost);
    if (files.length === 0 && isMissed()) return lost();
    for (const name of files) hadKeys.add(algorithmOf(name));
    const names = files.sort(newestFirst).join();
    if (known?.names === names && known.complete) return known.keys;
    const keys = await load(files);
    if (known?.names !== names) changedAt = performance.now();
    known = { keys: inOrder(keys), names, complete: keys.length === files.length };
    return known.keys;
  }

  /** The keys to serve. Without keys where there were some, they are lost. */
  async function requireNeeded(keys: readonly SigningKey[]): Promise<readonly SigningKey[]> {
    return keys.length === 0 && (await askForNeed()) ? lost() : keys;
  }

  function askForNeed(): Promise<boolean> {
    const age = need === null ? Number.NaN : clock() - need.at;
    if (need !== null && age >= 0 && age < NEED_HOLDS) return need.asked;
    const asked = isNeeded();
    need = { asked, at: clock() };
    // Ask again after a failure.
    asked.catch(() => {
      if (need?.asked === asked) need = null;
    });
    return asked;
  }

  /** Whether some algorithm can no longer sign if the files are gone. */
  function isMissed(): boolean {
    return [...hadKeys].some((each) => !signers.some(({ algorithm }) => algorithm === each));
  }

  function lost(cause?: unknown): never {
    known = null;
    throw new KeysLostError(`The signing keys that were in ${directory} are gone, or cannot be read`, cause);
  }

  /** While a staged key gets its permanent name, it has two names. */
  function inOrder(keys: readonly SigningKey[]): readonly SigningKey[] {
    const files = keys
      .filter((key) => !key.isStaged || !keys.some((each) => !each.isStaged && each.kid === key.kid))
      .toSorted((one, other) => other.signsFrom - one.signsFrom);
    return signers.length === 0 ? files : [...signers, ...files];
  }

  async function load(files: readonly string[]): Promise<readonly SigningKey[]> {
    for (const name of loaded.keys()) if (!files.includes(name)) loaded.delete(name);
    const newest = new Set(
      SIGNING_ALGORITHMS.map((each) => files.find((name) => algorithmOf(name) === each)),
    );
    const keys = await Promise.all(
      files.map((name) => (newest.has(name) ? loadOnce(name) : loadOther(name))),
    );
    return keys.filter((key) => key !== null);
  }

  /** Reads a key that is not the newest of its algorithm. One that cannot be read is left out. */
  function loadOther(name: string): Promise<SigningKey | null> {
    const key = loadOnce(name);
    const what = isStagedFile(name) ? 'A staged' : 'A retired';
    return key.catch((exception: unknown) => {
      log.error(`${what} signing key is left out: {exception}`, { exception });
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

  async function place(made: NewKey, name: string): Promise<void> {
    const draft = await draftOf(directory, made);
    try {
      await draft.place(name);
    } finally {
      await draft.discard();
    }
  }

  const removed = (key: SigningKey, acting: Acting) =>
    audit({ type: 'signing_key_removed', kid: key.kid, algorithm: key.algorithm, ...acting });

  return {
    all: look,
    published: async () =>
      requireNeeded(await lookWithin(performance.now() - changedAt < RECENT_CHANGE ? 0 : LOOK_HOLDS)),
    async active(algorithm = DEFAULT_ALGORITHM) {
      const key = signingKeyOf(await requireNeeded(await lookWithin(RELOAD_AFTER)), algorithm, clock());
      // A new key signs only when no process publishes an older listing any more.
      if (performance.now() - changedAt < LOOK_HOLDS) await setTimeout(2 * LOOK_HOLDS);
      return key;
    },
    list: async () => describeKeys(await look(), { directory, idTokenLifetime, now: clock() }),
    async generate(algorithm = DEFAULT_ALGORITHM, acting = {}) {
      requireAlgorithm(algorithm);
      if (signers.some((each) => each.algorithm === algorithm)) {
        throw new KeyRotationError(`A KeySigner signs with ${algorithm}: a file would not`);
      }
      const made = await newKey(algorithm);
      const signsFrom = signsFromNow(await look(), clock());
      const name = fileName({ ...made, signsFrom });
      await place(made, name).catch((error: unknown) => {
        throw notWritten(directory, error, 'no key was made');
      });
      const key = await loadOnce(name);
      await look();
      await audit({ type: 'signing_key_created', kid: key.kid, algorithm, ...acting });
      return key;
    },
    async rotate(rotation = {}) {
      const { rotateKeys } = await import('./rotation.ts');
      return rotateKeys({ directory, clock, idTokenLifetime, audit, look }, rotation);
    },
    async prune(olderThan, acting = {}) {
      if (!Number.isInteger(olderThan) || olderThan < idTokenLifetime) {
        throw new OutOfRangeError(
          `The age must be at least oauth_server:id_token_ttl, ${idTokenLifetime} seconds`,
        );
      }
      if (olderThan > LONGEST_LIFETIME) {
        throw new OutOfRangeError(`The age must be at most ${LONGEST_LIFETIME} seconds, a century`);
      }
      const keys = await look();
      // A key stopped signing when the next one of its algorithm started, and in other processes at
      // their next listing.
      const removable = keys.filter((key, index) => {
        if (key.file === null) return false;
        const next = keys.slice(0, index).findLast(({ algorithm }) => algorithm === key.algorithm);
        // A KeySigner may omit when it starts to sign.
        if (next === undefined || (next.file === null && next.signsFrom === 0)) return false;
        return next.signsFrom + RELOAD_AFTER + olderThan * 1000 <= clock();
      });
      // Remove by the name that was read: the contents of a file must not choose a file name.
      // Another process may be removing it too.
      await Promise.all(
        removable.map(async (key) => {
          if (key.file !== null && (await removeFile(directory, key.file))) await removed(key, acting);
        }),
      ).catch((error: unknown) => {
        throw notWritten(directory, error, 'old keys are still there');
      });
      await look();
      return removable.map(({ kid }) => kid);
    },
  };
}
