import { setTimeout } from 'node:timers/promises';
import { OutOfRangeError } from '@portico/sql';
import { LONGEST_LIFETIME } from '../contracts/longest-lifetime.ts';
import type { Acting, Audit } from '../auditing/audit.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, type SigningAlgorithms } from './algorithms.ts';
import { fileName } from './key-names.ts';
import { newKey } from './key-pairs.ts';
import { describeKeys, type KeyDescription } from './key-states.ts';
import { ListedKeys, type KeySources } from './listed-keys.ts';
import { notWritten } from './not-written.ts';
import type { KeyRotation } from './rotation.ts';
import type { RotationOptions } from './rotation-options.ts';
import { KeyRotationError, buildSigningKey, signsFromNow, type SigningKey } from './signing-key.ts';
import { RELOAD_AFTER } from './times.ts';

/**
 * The maximum age of a listing for the key set, in milliseconds. One listing per request would
 * double the cost.
 */
const LOOK_HOLDS = 10;
/**
 * How long after a change the directory is listed at each request, in milliseconds. Changes often
 * come in groups.
 */
const RECENT_CHANGE = 1000;

export interface KeyRingParts extends KeySources {
  /** In seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
}

/**
 * The keys of one directory, which several processes may share, and the server's KeySigners. A key
 * is a file that never changes. The newest key of each algorithm signs; all are published. So a key
 * that is generated anywhere signs everywhere, without a restart. A KeySigner takes precedence over
 * the files of its algorithm.
 */
export class KeyRing {
  /** The algorithms that it can have keys for. */
  readonly algorithms: SigningAlgorithms;
  readonly #parts: KeyRingParts;
  readonly #listed: ListedKeys;

  /** The server makes one of each directory: see `keys` of the server. */
  constructor(parts: KeyRingParts) {
    this.algorithms = parts.algorithms;
    this.#parts = parts;
    this.#listed = new ListedKeys(parts);
  }

  /**
   * The key that signs with the algorithm (RS256 unless given) now, or null. A new key of another
   * process is seen within a second. Like `all` and `published`, it throws a KeysLostError when
   * this process knew keys and the directory no longer has any. `active` and `published` also throw
   * it if there never was a key but the store has authorizations that need one.
   */
  async active(algorithm: SigningAlgorithm = DEFAULT_ALGORITHM): Promise<SigningKey | null> {
    const key = buildSigningKey(await this.#listed.needed(RELOAD_AFTER), algorithm, this.#parts.clock());
    // A new key signs only when no process publishes an older listing any more.
    if (this.#listed.unchangedFor < LOOK_HOLDS) await setTimeout(2 * LOOK_HOLDS);
    return key;
  }

  /** All keys that the directory has right now, in the order in which they sign, latest first. */
  all(): Promise<readonly SigningKey[]> {
    return this.#listed.look();
  }

  /**
   * As `all`, for the key set, which is requested often: at most ten milliseconds old, and the same
   * array until the keys change. Includes every key that has signed.
   */
  published(): Promise<readonly SigningKey[]> {
    return this.#listed.needed(this.#listed.unchangedFor < RECENT_CHANGE ? 0 : LOOK_HOLDS);
  }

  /** All keys, with the current state of each and when it may be removed. */
  async list(): Promise<readonly KeyDescription[]> {
    const { files, idTokenLifetime, clock } = this.#parts;
    const keys = await this.all();
    return describeKeys(keys, files.directory, idTokenLifetime, clock());
  }

  /**
   * Adds a key for the algorithm (RS256 unless given), which signs from now on. Only this and
   * `rotate` make keys. Throws a RangeError for another algorithm. Throws a KeyRotationError if a
   * KeySigner signs with it, or the directory cannot be written.
   */
  async generate(algorithm: SigningAlgorithm = DEFAULT_ALGORITHM, acting: Acting = {}): Promise<SigningKey> {
    const { files, signers, clock, audit } = this.#parts;
    this.algorithms.form(algorithm);
    if (signers.some((each) => each.algorithm === algorithm)) {
      throw new KeyRotationError(`A KeySigner signs with ${algorithm}: a file would not`);
    }
    const made = await newKey(algorithm);
    const signsFrom = signsFromNow(await this.all(), clock());
    const name = fileName(signsFrom, made.kid, algorithm);
    await files.write(made, name).catch((error: unknown) => {
      throw notWritten(files.directory, error, 'no key was made');
    });
    const key = await this.#listed.loadOnce(name);
    await this.all();
    await audit({ type: 'signing_key_created', kid: key.kid, algorithm, ...acting });
    return key;
  }

  /**
   * Replaces keys. Publishes the next key of each algorithm that has one. That key signs after
   * every cache has had time to get it. Removes keys that no living ID token needs. Call it on a
   * schedule: while a key waits for its time, no further one is made. Throws a RangeError for
   * invalid options, and a KeyRotationError if nothing can be done; then nothing has changed.
   */
  async rotate(options: RotationOptions = {}): Promise<KeyRotation> {
    const { Rotation } = await import('./rotation.ts');
    return new Rotation({ ...this.#parts, look: () => this.all() }, options).run();
  }

  /**
   * Removes retired keys that stopped signing at least `olderThan` seconds ago, but never an
   * algorithm's active key. Returns their kids. Throws a RangeError for an age below an ID token's
   * lifetime, because a token could outlive the key that proves it, and for an age above a century.
   * Throws a KeyRotationError if the directory cannot be written.
   */
  async prune(olderThan: number, acting: Acting = {}): Promise<readonly string[]> {
    const { files, audit } = this.#parts;
    this.#requireAge(olderThan);
    const removable = this.#retiredFor(olderThan, await this.all());
    // Remove by the name that was read: the contents of a file must not choose a file name.
    // Another process may be removing it too.
    await Promise.all(
      removable.map(async ({ file, kid, algorithm }) => {
        if (file !== null && (await files.remove(file)))
          await audit({ type: 'signing_key_removed', kid, algorithm, ...acting });
      }),
    ).catch((error: unknown) => {
      throw notWritten(files.directory, error, 'old keys are still there');
    });
    await this.all();
    return removable.map(({ kid }) => kid);
  }

  #requireAge(olderThan: number): void {
    const { idTokenLifetime } = this.#parts;
    if (!Number.isInteger(olderThan) || olderThan < idTokenLifetime) {
      throw new OutOfRangeError(
        `The age must be at least oauth_server:id_token_ttl, ${idTokenLifetime} seconds`,
      );
    }
    if (olderThan > LONGEST_LIFETIME) {
      throw new OutOfRangeError(`The age must be at most ${LONGEST_LIFETIME} seconds, a century`);
    }
  }

  /**
   * A key stopped signing when the next one of its algorithm started, and in other processes at
   * their next listing.
   */
  #retiredFor(seconds: number, keys: readonly SigningKey[]): readonly SigningKey[] {
    return keys.filter((key, index) => {
      if (key.file === null) return false;
      const next = keys.slice(0, index).findLast(({ algorithm }) => algorithm === key.algorithm);
      // A KeySigner may omit when it starts to sign.
      if (next === undefined || (next.file === null && next.signsFrom === 0)) return false;
      return next.signsFrom + RELOAD_AFTER + seconds * 1000 <= this.#parts.clock();
    });
  }
}
