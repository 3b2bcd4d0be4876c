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
  /** In seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
  readonly look: () => Promise<readonly SigningKey[]>;
}

/** The ids (`kid`) of these keys. */
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
    // The server must be able to read the staged keys. With `now`, they are removed anyway.
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
   * Publishes one successor for each of these keys, even if several processes do this at the same
   * time.
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
      // Creating a key takes time. Another process may have published a successor and even renamed
      // it.
      if (findSigningKey(keys, replaces.algorithm, clock()) !== replaces) continue;
      if (await draft.placeOnce(name)) placed.push({ kid, name, algorithm: replaces.algorithm });
    }
  }

  /** Replaces these keys immediately. Removes the staged and older keys of their algorithms. */
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
   * Gives all drafts their final names. If one fails, removes the files that already have theirs.
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
   * Removes staged keys and older keys. Keeps newer keys: another process may have just created
   * them.
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
   * A key has two file names while another process renames it. The key ring knows only one of them.
   * The other file would publish the removed key again.
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

  /** Renames staged keys that have started to sign. Removes keys that no valid ID token needs. */
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
   * Renames staged keys that have started to sign. Older releases choose the signing key by its
   * file name. After the rename, they sign with these keys too.
   */
  async #nameForGood(now: number): Promise<void> {
    const { files } = this.#parts;
    // List the directory here. The key ring knows only one of two names of a key.
    for (const name of (await files.names()).filter(isStagedFile)) {
      const key = await files.read(name).catch(() => null);
      if (key === null || !hasBegun(key, now)) continue;
      const next = fileName(key.signsFrom, key.kid, key.algorithm);
      // Check the name. The `kid` comes from the file's content: it could contain a path, or end
      // with the name of another algorithm.
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
   * uses none.
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
