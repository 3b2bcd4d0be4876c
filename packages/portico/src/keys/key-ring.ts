import { setTimeout } from 'node:timers/promises';
import { OutOfRangeError } from '@portico/sql';
import type { Acting, Audit } from '../auditing/audit.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, type SigningAlgorithms } from './algorithms.ts';
import { DistinctKeys } from './distinct-keys.ts';
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
 * How long requests for the key set reuse a directory listing, in milliseconds. A listing for each
 * request would double its time.
 */
const LOOK_HOLDS = 10;
/**
 * How long after a change every request lists the directory again, in milliseconds. One change
 * often follows another.
 */
const RECENT_CHANGE = 1000;

export interface KeyRingParts extends KeySources {
  /** In seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
}

/**
 * The signing keys of the server: the keys in one directory, which several processes can share, and
 * the KeySigners.
 *
 * Each key is a file that never changes. The server publishes all keys and signs with the newest
 * key of each algorithm. All processes start to use a new key without a restart. If an algorithm
 * has a KeySigner, the server signs with the KeySigner instead of the files.
 *
 * @example
 * if ((await server.keys.active()) === null) await server.keys.generate('RS256');
 * await server.keys.rotate({ ifOlderThan: 90 * 86_400 });
 */
export class KeyRing {
  /** The algorithms with which the server can sign. */
  readonly algorithms: SigningAlgorithms;
  readonly #parts: KeyRingParts;
  readonly #listed: ListedKeys;
  readonly #distinct: DistinctKeys;

  /** Do not call this constructor. Use the server's member `keys`. */
  constructor(parts: KeyRingParts) {
    this.algorithms = parts.algorithms;
    this.#parts = parts;
    this.#listed = new ListedKeys(parts);
    this.#distinct = new DistinctKeys(parts);
  }

  /**
   * Returns the key that currently signs with the algorithm (default: RS256), or null. If another
   * process creates a key, finds it within a second.
   *
   * Throws a KeysLostError in these cases:
   *
   * - This process had found keys, and the directory now contains none. `all` and `published` then
   *   throw too.
   * - The directory or the newest key of an algorithm cannot be read. `all` and `published` then
   *   throw too.
   * - This process has never found a key, but the store contains authorizations that need one.
   *   `published` then throws too.
   */
  async active(algorithm: SigningAlgorithm = DEFAULT_ALGORITHM): Promise<SigningKey | null> {
    const key = findSigningKey(
      await this.#listed.needed(RELOAD_AFTER),
      algorithm,
      this.#parts.clock(),
    );
    // Wait before a new key signs. Other processes may publish an older list of keys for a few
    // milliseconds. After this wait, every process has listed the keys again.
    if (this.#listed.unchangedFor < LOOK_HOLDS) await setTimeout(2 * LOOK_HOLDS);
    return key;
  }

  /**
   * Returns all current keys: first the KeySigners, then the key files. Both are sorted by start
   * time (`signsFrom`), latest first.
   */
  all(): Promise<readonly SigningKey[]> {
    return this.#listed.look();
  }

  /**
   * Returns all current keys for the key set, including every key that has ever signed and not been
   * removed. If a KeySigner and a key file have the same `kid`, includes only the key that signs.
   * The result is at most ten milliseconds old. Returns the same array until the keys change.
   */
  async published(): Promise<readonly SigningKey[]> {
    const holds = this.#listed.unchangedFor < RECENT_CHANGE ? 0 : LOOK_HOLDS;
    return this.#distinct.of(await this.#listed.needed(holds));
  }

  /** Returns all keys. For each key, includes its state and when it may be removed. */
  async list(): Promise<readonly KeyDescription[]> {
    const { files, idTokenLifetime, clock } = this.#parts;
    const keys = await this.all();
    return describeKeys(keys, files.directory, idTokenLifetime, clock());
  }

  /**
   * Adds a key for the algorithm (default: RS256). The new key signs immediately. Only this method
   * and `rotate` create keys. Throws a RangeError for an unsupported algorithm. Throws a
   * KeyRotationError if a KeySigner signs with this algorithm, or if the directory is not writable.
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
   * Rotates the keys: publishes the next key for each algorithm that has a key. The next key starts
   * to sign after every cache has had time to fetch it. Also removes keys that are not needed for
   * any valid ID token.
   *
   * You can call this method on a schedule. It creates no other key for an algorithm while a
   * published key is waiting to sign.
   *
   * Throws a RangeError for invalid options. Throws a KeyRotationError if rotation is not possible.
   * In that case, nothing has changed, unless the message says that old keys were not removed.
   */
  async rotate(options: RotationOptions = {}): Promise<KeyRotation> {
    const { Rotation } = await import('./rotation.ts');
    return new Rotation({ ...this.#parts, look: () => this.all() }, options).run();
  }

  /**
   * Removes retired keys that stopped signing at least `olderThan` seconds ago, but never the key
   * that currently signs. Returns the ids (`kid`) of the removed keys. Throws a RangeError if
   * `olderThan` is more than a century. Also throws a RangeError if it is less than the lifetime of
   * an ID token, because a token could then outlive its key. Throws a KeyRotationError if the
   * directory is not writable.
   */
  async prune(olderThan: number, acting: Acting = {}): Promise<readonly string[]> {
    const { files, audit } = this.#parts;
    this.#requireAge(olderThan);
    const removable = this.#retiredFor(olderThan, await this.all());
    // Use the name from the directory listing. A name from a file's content could remove another
    // file. Another process may remove the same key at the same time.
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
   * Returns the keys that stopped signing at least this long ago. A key stops when the next key of
   * its algorithm has started and the other processes have found that key.
   */
  #retiredFor(seconds: number, keys: readonly SigningKey[]): readonly SigningKey[] {
    const { files, idTokenLifetime, clock } = this.#parts;
    const now = clock();
    const described = describeKeys(keys, files.directory, idTokenLifetime, now);
    return keys.filter(({ file }, index) => {
      const retiredAt = described[index]?.retiredAt ?? null;
      if (file === null || retiredAt === null) return false;
      return retiredAt + RELOAD_AFTER + seconds * 1000 <= now;
    });
  }
}
