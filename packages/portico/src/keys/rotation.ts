import type { Acting, Audit } from '../auditing/audit.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import type { SigningAlgorithms } from './algorithms.ts';
import type { Draft, KeyFiles } from './key-files.ts';
import { getAlgorithm, fileName, isStagedFile, readNumber, stagedFileName } from './key-names.ts';
import { newKey, type StagedMembers } from './key-pairs.ts';
import { describeKeys, type KeyDescription } from './key-states.ts';
import {
  dueKeys,
  requireOptions,
  requireReadable,
  UNCHANGED,
  type RotationOptions,
} from './rotation-options.ts';
import { hasBegun, findSigningKey, signsFromNow, type SigningKey } from './signing-key.ts';
import { notWritten } from './not-written.ts';
import { STAGED_FOR } from './times.ts';

/** The result of a rotation. */
export interface KeyRotation {
  /** New keys that already sign. Always empty without the option `now`. */
  readonly created: readonly KeyDescription[];
  /** New keys that will start to sign later. */
  readonly staged: readonly KeyDescription[];
  /** The ids (`kid`) of the removed keys. */
  readonly removed: readonly string[];
  /** All keys after the rotation. */
  readonly keys: readonly KeyDescription[];
}

export interface RotationParts {
  readonly files: KeyFiles;
  readonly algorithms: SigningAlgorithms;
  readonly clock: () => number;
  /** The lifetime of ID tokens, in seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
  readonly look: () => Promise<readonly SigningKey[]>;
}

/** The ids (`kid`) of the created, staged and removed keys. */
interface Made {
  readonly created: readonly string[];
  readonly staged: readonly string[];
  readonly removed: readonly string[];
}

interface Placed {
  readonly kid: string;
  readonly name: string;
  readonly algorithm: SigningAlgorithm;
}

interface Prepared {
  readonly draft: Draft;
  readonly kid: string;
  readonly replaces: SigningKey;
}

/** Rotates the keys once. */
export class Rotation {
  readonly #parts: RotationParts;
  readonly #options: RotationOptions;
  readonly #acting: Acting;

  constructor(parts: RotationParts, options: RotationOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#acting = options.by === undefined ? {} : { by: options.by };
  }

  async run(): Promise<KeyRotation> {
    const { files, algorithms, clock, look } = this.#parts;
    const isNow = this.#options.now === true;
    requireOptions(this.#options, algorithms);
    // Check that the server can read the staged keys. With `now`, this does not matter, because the
    // staged keys are removed.
    if (!isNow) await requireReadable(files);
    const keys = await look();
    const due = dueKeys(keys, algorithms.names, this.#options, clock());
    const made = isNow ? await this.#replaceNow(keys, due) : await this.#stage(due);
    const removed = [...made.removed, ...(await this.#tidy())];
    const all = this.#described(await look(), clock());
    const described = (kids: readonly string[]) => all.filter(({ kid }) => kids.includes(kid));
    return { created: described(made.created), staged: described(made.staged), removed, keys: all };
  }

  #described(keys: readonly SigningKey[], now: number): readonly KeyDescription[] {
    const { files, idTokenLifetime } = this.#parts;
    return describeKeys(keys, files.directory, idTokenLifetime, now);
  }

  /**
   * Publishes one successor for each of these keys. Each key gets only one successor, even if
   * several processes do this at the same time.
   */
  async #stage(due: readonly SigningKey[]): Promise<Made> {
    const { clock, audit } = this.#parts;
    const { stagedFor = STAGED_FOR } = this.#options;
    const drafts = await this.#draftAll(due, (key) => {
      const created_at = clock();
      const signs_from = Math.max(created_at + stagedFor * 1000, key.signsFrom + 1);
      return { created_at, signs_from };
    });
    const placed = await this.#placeAll(drafts, (placing) => this.#placeStaged(drafts, placing));
    for (const { kid, algorithm } of placed)
      await audit({ type: 'signing_key_staged', kid, algorithm, ...this.#acting });
    return { created: [], staged: placed.map(({ kid }) => kid), removed: [] };
  }

  async #placeStaged(drafts: readonly Prepared[], placed: Placed[]): Promise<void> {
    const { clock, look } = this.#parts;
    const keys = await look();
    for (const { draft, kid, replaces } of drafts) {
      const name = stagedFileName(replaces);
      // Creating a key takes time. In the meantime, another process may have published a successor
      // and even renamed it.
      if (findSigningKey(keys, replaces.algorithm, clock()) !== replaces) continue;
      if (await draft.placeOnce(name)) placed.push({ kid, name, algorithm: replaces.algorithm });
    }
  }

  /** Replaces these keys immediately, and removes all other keys of their algorithms. */
  async #replaceNow(keys: readonly SigningKey[], due: readonly SigningKey[]): Promise<Made> {
    const { clock, audit } = this.#parts;
    const drafts = await this.#draftAll(due, () => ({}));
    const signsFrom = signsFromNow(keys, clock());
    const created = await this.#placeAll(drafts, async (placing) => {
      for (const { draft, kid, replaces } of drafts) {
        const { algorithm } = replaces;
        const name = fileName(signsFrom, kid, algorithm);
        await draft.place(name);
        placing.push({ kid, name, algorithm });
      }
    });
    for (const { kid, algorithm } of created)
      await audit({ type: 'signing_key_created', kid, algorithm, ...this.#acting });
    const algorithms = due.map(({ algorithm }) => algorithm);
    const removed = await this.#removeBefore(signsFrom, algorithms);
    return { created: created.map(({ kid }) => kid), staged: [], removed };
  }

  /**
   * Gives all drafts their final file names. If this fails for one draft, removes all files that
   * already have their final names.
   */
  async #placeAll(
    drafts: readonly Prepared[],
    place: (placed: Placed[]) => Promise<void>,
  ): Promise<readonly Placed[]> {
    const { files } = this.#parts;
    const placed: Placed[] = [];
    try {
      await place(placed);
      if (placed.length > 0) await files.sync();
      return placed;
    } catch (error) {
      for (const { name } of placed) await files.remove(name).catch(() => {});
      throw notWritten(files.directory, error, UNCHANGED);
    } finally {
      await discardAll(drafts);
    }
  }

  /**
   * Removes staged keys, and keys that are older than the new keys. Keeps newer keys, so that two
   * processes that rotate at the same time do not remove each other's new keys.
   */
  async #removeBefore(
    signsFrom: number,
    algorithms: readonly SigningAlgorithm[],
  ): Promise<readonly string[]> {
    const { files, look } = this.#parts;
    const others = (await look()).filter(
      (key) => algorithms.includes(key.algorithm) && (key.isStaged || key.signsFrom < signsFrom),
    );
    try {
      const removed = await this.#removeAll(others);
      await this.#removeOtherNames(algorithms, signsFrom);
      return removed;
    } catch (error) {
      throw notWritten(
        files.directory,
        error,
        'the new key signs now, but some old keys were not removed. Remove their files manually',
      );
    }
  }

  /**
   * Removes other files of removed keys. While another process renames a key, the key has two file
   * names, and the key ring knows only one of them. If the other file remained, the key would be
   * published again.
   */
  async #removeOtherNames(
    algorithms: readonly SigningAlgorithm[],
    signsFrom: number,
  ): Promise<void> {
    const { files } = this.#parts;
    const isOther = (name: string) =>
      algorithms.includes(getAlgorithm(name)) &&
      (isStagedFile(name) || readNumber(name) < signsFrom);
    for (;;) {
      const names = (await files.names()).filter(isOther);
      if (names.length === 0) return;
      for (const name of names) await files.remove(name);
    }
  }

  /**
   * Renames staged keys that have started to sign, and removes keys that no ID token needs any
   * longer.
   */
  async #tidy(): Promise<readonly string[]> {
    const { files, clock, look } = this.#parts;
    const now = clock();
    const keys = await look();
    try {
      await this.#nameForGood(now);
      const described = this.#described(keys, now);
      const removable = keys.filter(
        (_, index) => (described[index]?.removableAt ?? Number.POSITIVE_INFINITY) <= now,
      );
      if (keys.some(({ file }) => file !== null)) await files.removeLeftDrafts(Date.now());
      const removed = await this.#removeAll(removable);
      if (keys.some(({ file }) => file !== null)) await files.sync();
      return removed;
    } catch (error) {
      throw notWritten(files.directory, error, 'old keys were not removed. Run the command again');
    }
  }

  /**
   * Renames staged keys that have started to sign. Older releases do not support staged keys and
   * choose the signing key by its file name. After the rename, older releases sign with these keys
   * too.
   */
  async #nameForGood(now: number): Promise<void> {
    const { files } = this.#parts;
    // List the directory here, because the key ring knows only one of the two names of a key.
    for (const name of (await files.names()).filter(isStagedFile)) {
      const key = await files.read(name).catch(() => null);
      if (key === null || !hasBegun(key, now)) continue;
      const next = fileName(key.signsFrom, key.kid, key.algorithm);
      // Check the name, because the `kid` comes from the content of the file and could contain a
      // path, or end with the name of another algorithm.
      if (files.has(next) && getAlgorithm(next) === key.algorithm) await files.rename(name, next);
    }
  }

  async #removeAll(keys: readonly SigningKey[]): Promise<readonly string[]> {
    const { files, audit } = this.#parts;
    const removed: string[] = [];
    for (const { file, kid, algorithm } of keys) {
      if (file === null || !(await files.remove(file))) continue;
      removed.push(kid);
      await audit({ type: 'signing_key_removed', kid, algorithm, ...this.#acting });
    }
    return removed;
  }

  /**
   * Writes all new keys to disk before the server uses any of them. If the disk is full, the server
   * uses none of them.
   */
  async #draftAll(
    due: readonly SigningKey[],
    membersOf: (replaces: SigningKey) => StagedMembers,
  ): Promise<readonly Prepared[]> {
    const { files } = this.#parts;
    const drafts: Prepared[] = [];
    try {
      for (const replaces of due) {
        const made = await newKey(replaces.algorithm);
        const draft = await files.draft(made, membersOf(replaces));
        drafts.push({ draft, kid: made.kid, replaces });
      }
      return drafts;
    } catch (error) {
      await discardAll(drafts);
      throw notWritten(files.directory, error, UNCHANGED);
    }
  }
}

async function discardAll(drafts: readonly Prepared[]): Promise<void> {
  for (const { draft } of drafts) await draft.discard();
}
