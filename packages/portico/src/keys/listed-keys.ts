import type { Log } from '@portico/sql';
import type { SigningAlgorithm } from '../store/client.ts';
import type { SigningAlgorithms } from './algorithms.ts';
import type { KeyFiles } from './key-files.ts';
import { getAlgorithm, isStagedFile, newestFirst } from './key-names.ts';
import { KeysLostError, type SigningKey } from './signing-key.ts';

/** In milliseconds. */
const NEED_HOLDS = 60_000;

export interface KeySources {
  readonly files: KeyFiles;
  readonly algorithms: SigningAlgorithms;
  /** Sorted by start time (`signsFrom`), latest first. */
  readonly signers: readonly SigningKey[];
  /** In milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
  /**
   * Returns true if the store contains authorizations that need a key. Called only while there is
   * no key. The result is reused for a minute, unless the call rejects.
   */
  readonly isNeeded: () => Promise<boolean>;
}

interface KnownKeys {
  readonly keys: readonly SigningKey[];
  /** All key files' names in one string. A different string shows a change. */
  readonly names: string;
  /** False if a file could not be read. The next listing reads such files again. */
  readonly complete: boolean;
}

/** Reads each file once: a key file never changes. */
export class ListedKeys {
  readonly #sources: KeySources;
  readonly #loaded = new Map<string, Promise<SigningKey>>();
  readonly #logged = new Set<string>();
  #known: KnownKeys | null = null;
  /** The algorithms for which this process has ever found a key file. */
  readonly #hadKeys = new Set<SigningAlgorithm>();
  // Measure durations with `performance.now()`. The system clock may be set back.
  #looking: Promise<readonly SigningKey[]> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  #need: { readonly asked: Promise<boolean>; readonly at: number } | null = null;

  constructor(sources: KeySources) {
    this.#sources = sources;
  }

  /** In milliseconds. */
  get unchangedFor(): number {
    return performance.now() - this.#changedAt;
  }

  look(): Promise<readonly SigningKey[]> {
    this.#lookedAt = performance.now();
    const keys = this.#readAll();
    this.#looking = keys;
    // Do not reuse a failed listing.
    keys.catch(() => {
      if (this.#looking === keys) this.#looking = null;
    });
    return keys;
  }

  /**
   * Reuses a directory listing that is less than `milliseconds` old. Throws a KeysLostError if the
   * keys have disappeared.
   */
  async needed(milliseconds: number): Promise<readonly SigningKey[]> {
    const isRecent = performance.now() - this.#lookedAt < milliseconds;
    const keys = await ((isRecent ? this.#looking : null) ?? this.look());
    return keys.length === 0 && (await this.#askForNeed()) ? this.#lost() : keys;
  }

  /** Reads each file only once, unless reading fails. */
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

  /** Returns true if an algorithm has lost its key files and has no KeySigner. */
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
   * Returns the KeySigners, then the key files, each sorted by start time, latest first. A staged
   * key has two names while another process renames it. Returns such a key only once.
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
   * Reads a key that is not the newest of its algorithm. Logs an unreadable key once, and returns
   * null.
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
