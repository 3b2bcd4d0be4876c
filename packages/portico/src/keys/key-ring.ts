import { setTimeout } from 'node:timers/promises';
import { OutOfRangeError } from '@portico/sql';
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
import { KeyRotationError, findSigningKey, signsFromNow, type SigningKey } from './signing-key.ts';
import { LONGEST_LIFETIME, RELOAD_AFTER } from './times.ts';

/**
 * How long a directory listing is reused for the key set, in milliseconds. Listing the directory
 * for every request would double the time that the request takes.
 */
const LOOK_HOLDS = 10;
/**
 * For how long after a change every request lists the directory again, in milliseconds. Another
 * change often follows soon.
 */
const RECENT_CHANGE = 1000;

export interface KeyRingParts extends KeySources {
  /** The lifetime of ID tokens, in seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
}

/**
 * The keys in one directory, which several processes may share, and the server's KeySigners.
 *
 * Each key is a file that never changes. The server publishes all keys and signs with the newest
 * key of each algorithm. All processes use a new key without a restart. If an algorithm has a
 * KeySigner, the server signs with the KeySigner and not with the files.
 */
export class KeyRing {
  /** The algorithms that the server can sign with. */
  readonly algorithms: SigningAlgorithms;
  readonly #parts: KeyRingParts;
  readonly #listed: ListedKeys;

  /** Do not call this constructor. Use the server's `keys`. */
  constructor(parts: KeyRingParts) {
    this.algorithms = parts.algorithms;
    this.#parts = parts;
    this.#listed = new ListedKeys(parts);
  }

  /**
   * Returns the key that currently signs with the algorithm (default: RS256), or null. Finds a new
   * key of another process within a second.
   *
   * Throws a KeysLostError in these cases:
   *
   * - This process knew keys, and the directory now contains none. `all` and `published` throw as
   *   well.
   * - There never was a key, but the store contains authorizations that need one. `published`
   *   throws as well.
   */
  async active(algorithm: SigningAlgorithm = DEFAULT_ALGORITHM): Promise<SigningKey | null> {
    const key = findSigningKey(
      await this.#listed.needed(RELOAD_AFTER),
      algorithm,
      this.#parts.clock(),
    );
    // Other processes may still publish an older list of keys for a few milliseconds. Do not sign
    // with a new key until every process has listed the keys again.
    if (this.#listed.unchangedFor < LOOK_HOLDS) await setTimeout(2 * LOOK_HOLDS);
    return key;
  }

  /** Returns all current keys, sorted by when they start to sign, latest first. */
  all(): Promise<readonly SigningKey[]> {
    return this.#listed.look();
  }

  /**
   * Returns all current keys for the key set, including every key that has signed. The result is at
   * most ten milliseconds old. The array is the same until the keys change.
   */
  published(): Promise<readonly SigningKey[]> {
    return this.#listed.needed(this.#listed.unchangedFor < RECENT_CHANGE ? 0 : LOOK_HOLDS);
  }

  /** Returns all keys, each with its state and the time when it may be removed. */
  async list(): Promise<readonly KeyDescription[]> {
    const { files, idTokenLifetime, clock } = this.#parts;
    const keys = await this.all();
    return describeKeys(keys, files.directory, idTokenLifetime, clock());
  }

  /**
   * Adds a key for the algorithm (default: RS256). The key signs immediately. Only this method and
   * `rotate` create keys. Throws a RangeError for an unsupported algorithm. Throws a
   * KeyRotationError if a KeySigner signs with the algorithm, or if the directory is not writable.
   */
  async generate(
    algorithm: SigningAlgorithm = DEFAULT_ALGORITHM,
    acting: Acting = {},
  ): Promise<SigningKey> {
    const { files, signers, clock, audit } = this.#parts;
    this.algorithms.form(algorithm);
    if (signers.some((each) => each.algorithm === algorithm)) {
      throw new KeyRotationError(
        `A KeySigner already signs with ${algorithm}, so a key file for this algorithm would ` +
          'not be used',
      );
    }
    const made = await newKey(algorithm);
    const signsFrom = signsFromNow(await this.all(), clock());
    const name = fileName(signsFrom, made.kid, algorithm);
    await files.write(made, name).catch((error: unknown) => {
      throw notWritten(files.directory, error, 'no key was created');
    });
    const key = await this.#listed.loadOnce(name);
    await this.all();
    await audit({ type: 'signing_key_created', kid: key.kid, algorithm, ...acting });
    return key;
  }

  /**
   * Rotates the keys. For each algorithm that has a key, publishes the next key. The next key
   * starts to sign when every cache has had time to fetch it. Also removes keys that no valid ID
   * token needs.
   *
   * You can call this on a schedule. While a published key waits to sign, no other key is created
   * for its algorithm.
   *
   * Throws a RangeError for invalid options. Throws a KeyRotationError, and changes nothing, if
   * rotation is not possible.
   */
  async rotate(options: RotationOptions = {}): Promise<KeyRotation> {
    const { Rotation } = await import('./rotation.ts');
    return new Rotation({ ...this.#parts, look: () => this.all() }, options).run();
  }

  /**
   * Removes retired keys that stopped signing at least `olderThan` seconds ago, but never the key
   * that signs. Returns the ids (`kid`) of the removed keys. Throws a RangeError if `olderThan` is
   * more than a century. Also throws a RangeError if it is less than the lifetime of an ID token,
   * because a token could then be valid longer than its key. Throws a KeyRotationError if the
   * directory is not writable.
   */
  async prune(olderThan: number, acting: Acting = {}): Promise<readonly string[]> {
    const { files, audit } = this.#parts;
    this.#requireAge(olderThan);
    const removable = this.#retiredFor(olderThan, await this.all());
    // Use the name from the directory listing. A name from a file's contents could make this method
    // remove another file. Another process may remove the key at the same time.
    try {
      await Promise.all(
        removable.map(async ({ file, kid, algorithm }) => {
          if (file !== null && (await files.remove(file)))
            await audit({ type: 'signing_key_removed', kid, algorithm, ...acting });
        }),
      );
      if (removable.length > 0) await files.sync();
    } catch (error) {
      throw notWritten(files.directory, error, 'old keys were not removed');
    }
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
      throw new OutOfRangeError(`The age must be at most ${LONGEST_LIFETIME} seconds (100 years)`);
    }
  }

  /**
   * Returns the keys that stopped signing at least this long ago. A key stops signing when the next
   * key of its algorithm starts to sign and the other processes have found that next key.
   */
  #retiredFor(seconds: number, keys: readonly SigningKey[]): readonly SigningKey[] {
    return keys.filter((key, index) => {
      if (key.file === null) return false;
      const next = keys.slice(0, index).findLast(({ algorithm }) => algorithm === key.algorithm);
      // Without `signsFrom`, it is unknown when a KeySigner started to sign.
      if (next === undefined || (next.file === null && next.signsFrom === 0)) return false;
      return next.signsFrom + RELOAD_AFTER + seconds * 1000 <= this.#parts.clock();
    });
  }
}
