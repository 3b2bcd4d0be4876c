import path from 'node:path';
import { OutOfRangeError } from '@portico/sql';
import { LONGEST_LIFETIME } from '../contracts/lifetimes.ts';
import type { Acting, Audit } from '../auditing/audit.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { missingKey, requireAlgorithm, SIGNING_ALGORITHMS } from './algorithms.ts';
import {
  algorithmOf,
  draftOf,
  fileName,
  isKeyFile,
  isStagedFile,
  keyFiles,
  newKey,
  numberOf,
  ownersIn,
  readKey,
  removeFile,
  removeLeftDrafts,
  renameVisibly,
  stagedFileName,
  type Draft,
} from './key-files.ts';
import { describeKeys, type KeyDescription } from './key-states.ts';
import { hasBegun, KeyRotationError, signingKeyOf, signsFromNow, type SigningKey } from './signing-key.ts';
import { notWritten } from './not-written.ts';
import { STAGED_FOR } from './times.ts';

const UNCHANGED = 'no key was replaced';

/** How to replace keys. */
export interface RotationOptions extends Acting {
  /** Only this algorithm; each one that has a key unless given. */
  readonly algorithm?: SigningAlgorithm;
  /**
   * The new key signs at once, and all other keys of its algorithm are removed, because someone
   * else may have them. ID tokens signed by those are refused from then on. False unless given.
   */
  readonly now?: boolean;
  /**
   * Only if the current key has been signing for this many seconds; at any age unless given. Not
   * with `now`.
   */
  readonly ifOlderThan?: number;
  /**
   * How many seconds a new key is published before it signs; 905 unless given, which is also the
   * minimum. Use a longer time if keys are delivered to machines one after another. Not with `now`.
   */
  readonly stagedFor?: number;
}

/** What a rotation did. */
export interface KeyRotation {
  /** New keys that already sign. Only with `now`. */
  readonly created: readonly KeyDescription[];
  /** New keys that will sign later. */
  readonly staged: readonly KeyDescription[];
  /** The kids of removed keys. */
  readonly removed: readonly string[];
  /** All keys after the rotation. */
  readonly keys: readonly KeyDescription[];
}

export interface RotationParts {
  readonly directory: string;
  readonly clock: () => number;
  /** In seconds. */
  readonly idTokenLifetime: number;
  readonly audit: Audit;
  readonly look: () => Promise<readonly SigningKey[]>;
}

export async function rotateKeys(parts: RotationParts, options: RotationOptions): Promise<KeyRotation> {
  requireOptions(options);
  // With `now` they are removed.
  if (options.now !== true) await requireReadable(parts.directory);
  const keys = await parts.look();
  const due = dueKeys(keys, options, parts.clock());
  const made =
    options.now === true ? await replaceNow(parts, keys, due, options) : await stage(parts, due, options);
  const removed = [...made.removed, ...(await tidy(parts, options))];
  const all = describeKeys(await parts.look(), { ...parts, now: parts.clock() });
  const described = (kids: readonly string[]) => all.filter(({ kid }) => kids.includes(kid));
  return { created: described(made.created), staged: described(made.staged), removed, keys: all };
}

/**
 * A key that root can read and the server cannot must not become the signing key. The server could
 * not sign any more.
 */
async function requireReadable(directory: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { owner, foreign } = await ownersIn(directory);
  const [staged] = foreign.filter(({ name }) => isStagedFile(name));
  if (owner === null || owner.uid === 0 || staged === undefined) return;
  throw new KeyRotationError(
    `The staged key ${path.join(directory, staged.name)} belongs to uid ${staged.uid}, and its directory to uid ${owner.uid}, who cannot read it: ${UNCHANGED}; ` +
      'remove it, and run this as the account that serves',
  );
}

function requireOptions({ algorithm, now, ifOlderThan, stagedFor }: RotationOptions): void {
  if (algorithm !== undefined) requireAlgorithm(algorithm);
  if (now === true && (ifOlderThan !== undefined || stagedFor !== undefined)) {
    throw new OutOfRangeError('A key that signs now waits for nothing: leave the ages out, or now');
  }
  requireSeconds('The age', ifOlderThan, 1);
  requireSeconds('The time that a key is staged for', stagedFor, STAGED_FOR);
}

function requireSeconds(what: string, seconds: number | undefined, least: number): void {
  if (seconds === undefined) return;
  if (Number.isInteger(seconds) && seconds >= least && seconds <= LONGEST_LIFETIME) return;
  throw new OutOfRangeError(`${what} must be from ${least} to ${LONGEST_LIFETIME} seconds`);
}

/** The signing keys that are to be replaced. */
function dueKeys(
  keys: readonly SigningKey[],
  { algorithm, now: atOnce, ifOlderThan }: RotationOptions,
  now: number,
): readonly SigningKey[] {
  const signing = SIGNING_ALGORITHMS.flatMap((each) => signingKeyOf(keys, each, now) ?? []);
  const asked = algorithm === undefined ? signing : signing.filter((each) => each.algorithm === algorithm);
  if (asked.length === 0) {
    const { key, command } = missingKey(algorithm ?? 'RS256');
    throw new KeyRotationError(`There is ${key} to replace; run npx portico ${command} first`);
  }
  const files = asked.filter(({ file }) => file !== null);
  if (files.length === 0 && (algorithm !== undefined || atOnce === true)) {
    throw new KeyRotationError(
      'A KeySigner signs, and its key is not kept here: give the server another KeySigner (docs/keys.md)',
    );
  }
  if (atOnce === true) return files;
  const isOld = ({ signsFrom }: SigningKey) =>
    ifOlderThan === undefined || now - signsFrom >= ifOlderThan * 1000;
  return files.filter((each) => !hasSuccessor(each, keys, now) && isOld(each));
}

function hasSuccessor({ algorithm }: SigningKey, keys: readonly SigningKey[], now: number): boolean {
  return keys.some((key) => key.algorithm === algorithm && !hasBegun(key, now));
}

/** Created and removed keys, by kid. */
interface Made {
  readonly created: readonly string[];
  readonly staged: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Publishes the successor of each of these keys. If several processes do this at once, only one
 * succeeds.
 */
async function stage(
  parts: RotationParts,
  due: readonly SigningKey[],
  options: RotationOptions,
): Promise<Made> {
  const { directory, clock, audit, look } = parts;
  const { stagedFor = STAGED_FOR, by } = options;
  const drafts = await draftAll(parts, due, (key) => {
    const created_at = clock();
    const signs_from = Math.max(created_at + stagedFor * 1000, key.signsFrom + 1);
    return { created_at, signs_from };
  });
  const placed: Placed[] = [];
  try {
    const keys = await look();
    for (const { draft, kid, replaces } of drafts) {
      const name = stagedFileName(replaces);
      // Making a key takes a while. The name belongs to the only successor, which may have been
      // renamed meanwhile.
      if (signingKeyOf(keys, replaces.algorithm, clock()) !== replaces) continue;
      if (await draft.placeOnce(name)) placed.push({ kid, name, algorithm: replaces.algorithm });
    }
  } catch (error) {
    for (const { name } of placed) await removeFile(directory, name).catch(() => {});
    throw notWritten(directory, error, UNCHANGED);
  } finally {
    await discardAll(drafts);
  }
  for (const { kid, algorithm } of placed)
    await audit({ type: 'signing_key_staged', kid, algorithm, ...acting(by) });
  return { created: [], staged: placed.map(({ kid }) => kid), removed: [] };
}

/** Replaces these keys at once, and removes all others of their algorithms. */
async function replaceNow(
  parts: RotationParts,
  keys: readonly SigningKey[],
  due: readonly SigningKey[],
  { by }: RotationOptions,
): Promise<Made> {
  const { directory, clock, audit } = parts;
  const drafts = await draftAll(parts, due, () => ({}));
  const signsFrom = signsFromNow(keys, clock());
  const created: Placed[] = [];
  try {
    for (const { draft, kid, replaces } of drafts) {
      const { algorithm } = replaces;
      const name = fileName({ signsFrom, kid, algorithm });
      await draft.place(name);
      created.push({ kid, name, algorithm });
    }
  } catch (error) {
    for (const { name } of created) await removeFile(directory, name).catch(() => {});
    throw notWritten(directory, error, UNCHANGED);
  } finally {
    await discardAll(drafts);
  }
  for (const { kid, algorithm } of created)
    await audit({ type: 'signing_key_created', kid, algorithm, ...acting(by) });
  const algorithms = due.map(({ algorithm }) => algorithm);
  // If two processes do this at once, each could remove the other's new key. So keep newer keys.
  const others = (await parts.look()).filter(
    (key) => algorithms.includes(key.algorithm) && (key.isStaged || key.signsFrom < signsFrom),
  );
  try {
    const removed = await removeAll(parts, others, by);
    await removeOtherNames(directory, algorithms, signsFrom);
    return { created: created.map(({ kid }) => kid), staged: [], removed };
  } catch (error) {
    throw notWritten(
      directory,
      error,
      'the new key signs, and those before it are still there: remove their files by hand',
    );
  }
}

/**
 * If a key has two names, the ring knows only one. Another process may be giving one of these keys
 * its second name right now. Any name that is left would be published again.
 */
async function removeOtherNames(
  directory: string,
  algorithms: readonly SigningAlgorithm[],
  signsFrom: number,
): Promise<void> {
  const isOther = (name: string) =>
    algorithms.includes(algorithmOf(name)) && (isStagedFile(name) || numberOf(name) < signsFrom);
  for (;;) {
    const names = (await keyFiles(directory)).filter(isOther);
    if (names.length === 0) return;
    for (const name of names) await removeFile(directory, name);
  }
}

/**
 * Gives keys that have begun to sign their permanent name, and removes keys that are not needed any
 * more.
 */
async function tidy(parts: RotationParts, { by }: RotationOptions): Promise<readonly string[]> {
  const { directory, clock } = parts;
  const now = clock();
  const keys = await parts.look();
  try {
    await nameForGood(directory, now);
    const described = describeKeys(keys, { ...parts, now });
    const removable = keys.filter(
      (_, index) => (described[index]?.removableAt ?? Number.POSITIVE_INFINITY) <= now,
    );
    if (keys.some(({ file }) => file !== null)) await removeLeftDrafts(directory, Date.now());
    return await removeAll(parts, removable, by);
  } catch (error) {
    throw notWritten(directory, error, 'old keys stay for the next run');
  }
}

/** A release without staged keys goes by the name, and signs with the key from then on. */
async function nameForGood(directory: string, now: number): Promise<void> {
  // Read the files and not the ring, because the ring knows only one of a key's two names.
  for (const name of (await keyFiles(directory)).filter(isStagedFile)) {
    const key = await readKey(directory, name).catch(() => null);
    // The kid comes from the file, and could lead to another path.
    if (key !== null && hasBegun(key, now) && isKeyFile(fileName(key)))
      await renameVisibly(directory, name, fileName(key));
  }
}

async function removeAll(
  { directory, audit }: RotationParts,
  keys: readonly SigningKey[],
  by: Acting['by'],
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { file, kid, algorithm } of keys) {
    if (file === null || !(await removeFile(directory, file))) continue;
    removed.push(kid);
    await audit({ type: 'signing_key_removed', kid, algorithm, ...acting(by) });
  }
  return removed;
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

/** Writes all keys to disk before the first one is used. If the disk is full, no key is used. */
async function draftAll(
  { directory }: RotationParts,
  due: readonly SigningKey[],
  membersOf: (replaces: SigningKey) => Parameters<typeof draftOf>[2],
): Promise<readonly Prepared[]> {
  const drafts: Prepared[] = [];
  try {
    for (const replaces of due) {
      const made = await newKey(replaces.algorithm);
      const draft = await draftOf(directory, made, membersOf(replaces));
      drafts.push({ draft, kid: made.kid, replaces });
    }
    return drafts;
  } catch (error) {
    await discardAll(drafts);
    throw notWritten(directory, error, UNCHANGED);
  }
}

async function discardAll(drafts: readonly Prepared[]): Promise<void> {
  for (const { draft } of drafts) await draft.discard();
}

function acting(by: Acting['by']): Acting {
  return by === undefined ? {} : { by };
}
