import type { Log } from '@portico/sql';
import type { SigningAlgorithm } from '../store/client.ts';
import type { SigningAlgorithms } from './algorithms.ts';
import type { KeyFiles } from './key-files.ts';
import { getAlgorithm, isStagedFile, newestFirst } from './key-names.ts';
import { KeysLostError, type SigningKey } from './signing-key.ts';

/** How long the result of `isNeeded` is reused, in milliseconds. */
const NEED_HOLDS = 60_000;

export interface KeySources {
  readonly files: KeyFiles;
  readonly algorithms: SigningAlgorithms;
  /** The keys of the `KeySigner`s, sorted by start time (`signsFrom`), latest first. */
  readonly signers: readonly SigningKey[];
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
  /**
   * Returns whether the store contains authorizations for which a key is needed. Called only while
   * there is no key. The result is reused for a minute, unless the call rejects.
   */
  readonly isNeeded: () => Promise<boolean>;
}

/** The result of the last directory listing. */
interface KnownKeys {
  readonly keys: readonly SigningKey[];
  /** The names of all key files in one string, which is compared to detect changes. */
  readonly names: string;
  /**
   * Whether every file could be read. If not, the unreadable files are read again at the next
   * listing.
   */
  readonly complete: boolean;
}

/** Lists the keys in a directory. Reads each file once, because a key file never changes. */
export class ListedKeys {
  readonly #sources: KeySources;
  readonly #loaded = new Map<string, Promise<SigningKey>>();
  /** The names of the unreadable files that are logged. */
  readonly #logged = new Set<string>();
  #known: KnownKeys | null = null;
  /** The algorithms for which this process has ever found a key file. */
  readonly #hadKeys = new Set<SigningAlgorithm>();
  // Measure durations with `performance.now()`, because the system clock may be set back.
  #looking: Promise<readonly SigningKey[]> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  #need: { readonly asked: Promise<boolean>; readonly at: number } | null = null;

  constructor(sources: KeySources) {
    this.#sources = sources;
  }

  /** Returns how many milliseconds ago the list of keys last changed. */
  get unchangedFor(): number {
    return performance.now() - this.#changedAt;
  }

  look(): Promise<readonly SigningKey[]> {
    this.#lookedAt = performance.now();
    const keys = this.#readAll();
    this.#looking = keys;
    // Do not reuse a listing that failed.
    keys.catch(() => {
      if (this.#looking === keys) this.#looking = null;
    });
    return keys;
  }

  /**
   * Returns the keys. Reuses the last directory listing if it is less than `milliseconds` old.
   * Throws a KeysLostError if the keys have disappeared.
   */
  async needed(milliseconds: number): Promise<readonly SigningKey[]> {
    const isRecent = performance.now() - this.#lookedAt < milliseconds;
    const keys = await ((isRecent ? this.#looking : null) ?? this.look());
    return keys.length === 0 && (await this.#askForNeed()) ? this.#lost() : keys;
  }

  /** Returns the key in a file. Reads each file only once, unless reading it failed. */
  loadOnce(name: string): Promise<SigningKey> {
    let key = this.#loaded.get(name);
    if (key === undefined) {
      key = this.#sources.files.read(name);
      key.catch(() => this.#loaded.delete(name));
      this.#loaded.set(name, key);
    }
    return key;
  }

  async #readAll(): Promise<readonly SigningKey[]> {
    const files = await this.#sources.files.names().catch((error: unknown) => this.#lost(error));
    if (files.length === 0 && this.#isMissed()) return this.#lost();
    for (const name of files) this.#hadKeys.add(getAlgorithm(name));
    const names = files.sort(newestFirst).join();
    if (this.#known?.names === names && this.#known.complete) return this.#known.keys;
    const keys = await this.#load(files);
    if (this.#known?.names !== names) this.#changedAt = performance.now();
    this.#known = { keys: this.#inOrder(keys), names, complete: keys.length === files.length };
    return this.#known.keys;
  }

  #askForNeed(): Promise<boolean> {
    const { clock, isNeeded } = this.#sources;
    const age = this.#need === null ? Number.NaN : clock() - this.#need.at;
    if (this.#need !== null && age >= 0 && age < NEED_HOLDS) return this.#need.asked;
    const asked = isNeeded();
    this.#need = { asked, at: clock() };
    // If the query failed, run it again at the next call.
    asked.catch(() => {
      if (this.#need?.asked === asked) this.#need = null;
    });
    return asked;
  }

  /** Whether the key files of an algorithm were lost and no KeySigner has this algorithm. */
  #isMissed(): boolean {
    const { signers } = this.#sources;
    return [...this.#hadKeys].some((each) => !signers.some(({ algorithm }) => algorithm === each));
  }

  #lost(cause?: unknown): never {
    this.#known = null;
    const { directory } = this.#sources.files;
    throw new KeysLostError(
      `The signing keys that were in ${directory} are gone, or cannot be read`,
      cause,
    );
  }

  /**
   * Returns the KeySigners, then the keys in files. Both are sorted by start time (`signsFrom`),
   * latest first. While another process renames a staged key, the key has two file names. Returns
   * such a key only once.
   */
  #inOrder(keys: readonly SigningKey[]): readonly SigningKey[] {
    const { signers } = this.#sources;
    const files = keys
      .filter(
        (key) => !key.isStaged || !keys.some((each) => !each.isStaged && each.kid === key.kid),
      )
      .toSorted((one, other) => other.signsFrom - one.signsFrom);
    return [...signers, ...files];
  }

  async #load(files: readonly string[]): Promise<readonly SigningKey[]> {
    for (const known of [this.#loaded, this.#logged])
      for (const name of known.keys()) if (!files.includes(name)) known.delete(name);
    const newest = new Set(
      this.#sources.algorithms.names.map((each) =>
        files.find((name) => getAlgorithm(name) === each),
      ),
    );
    const keys = await Promise.all(
      files.map((name) => (newest.has(name) ? this.loadOnce(name) : this.#loadOther(name))),
    );
    return keys.filter((key) => key !== null);
  }

  /**
   * Reads a key that is not the newest of its algorithm. Returns null if the key cannot be read,
   * and logs this once.
   */
  #loadOther(name: string): Promise<SigningKey | null> {
    const what = isStagedFile(name) ? 'A staged' : 'A retired';
    return this.loadOnce(name).catch((exception: unknown) => {
      if (!this.#logged.has(name))
        this.#sources.log.error(`${what} signing key cannot be read: {exception}`, { exception });
      this.#logged.add(name);
      return null;
    });
  }
}
