import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { link, lstat, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { hasCode, openOwnedFolder } from '@portico/sql';
import type { JWK } from 'jose';
import { randomIdentifier, tokenHash } from '../crypto.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, DIGESTS, FORMS } from './algorithms.ts';
import { KeysLostError, type SigningKey } from './signing-key.ts';

/** Without an algorithm it is RS256. A release that only knows RS256 ignores all other files. */
const KEY_FILE = /^(\d+)-[A-Za-z0-9_-]+(?:\.(ES256|EdDSA))?\.json$/;
/**
 * The file of a staged key. Its name comes from the key that it replaces, so there is only one
 * successor. Its time is in the file. A release that does not know staged keys takes it for the
 * oldest key: it publishes it, and signs with another.
 */
const STAGED_FILE = /^0-next-/;
const DRAFT = /^\.draft-[0-9a-f]{32}$/;
/**
 * In milliseconds. Writing a key never takes this long, so an older draft was left by a process
 * that was killed.
 */
const LEFT_DRAFT = 3_600_000;

/** The names of the key files. Empty without a directory. */
export async function keyFiles(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter(isKeyFile);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

export function isKeyFile(name: string): boolean {
  return KEY_FILE.test(name);
}

/** The owner of a directory, and the key files in it that belong to another user. */
export interface Owners {
  /** Null if the directory does not exist. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly foreign: readonly { readonly name: string; readonly uid: number }[];
}

export async function ownersIn(directory: string): Promise<Owners> {
  const owner = await stat(directory).catch(() => null);
  const found: { readonly name: string; readonly uid: number }[] = [];
  for (const name of owner === null ? [] : await keyFiles(directory)) {
    // Null for a file that was removed meanwhile. For a link, the owner of the link counts: no
    // message must advise to change the owner of the link's target.
    const file = await lstat(path.join(directory, name)).catch(() => null);
    if (file !== null && file.uid !== owner?.uid) found.push({ name, uid: file.uid });
  }
  return { owner, foreign: found.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
}

/** By the number in the name, then by the name itself. */
export function newestFirst(one: string, other: string): number {
  return numberOf(other) - numberOf(one) || (one < other ? 1 : -1);
}

/** Milliseconds since 1970. 0 for a key that is published and has never signed. */
export function numberOf(name: string): number {
  return Number(KEY_FILE.exec(name)?.[1]);
}

export function algorithmOf(name: string): SigningAlgorithm {
  return (KEY_FILE.exec(name)?.[2] as SigningAlgorithm | undefined) ?? DEFAULT_ALGORITHM;
}

export function fileName({
  signsFrom,
  kid,
  algorithm,
}: Pick<SigningKey, 'signsFrom' | 'kid' | 'algorithm'>): string {
  return `${signsFrom}-${kid}${FORMS[algorithm].mark}.json`;
}

/** The file name of this key's only staged successor. */
export function stagedFileName({ kid, algorithm }: Pick<SigningKey, 'kid' | 'algorithm'>): string {
  return `0-next-${tokenHash(kid)}${FORMS[algorithm].mark}.json`;
}

export function isStagedFile(name: string): boolean {
  return STAGED_FILE.test(name);
}

/** A new key that is not stored yet. */
export interface NewKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  /** Includes its private members. */
  readonly jwk: JWK;
}

/** RSA keys have 2048 bits. */
export async function newKey(algorithm: SigningAlgorithm): Promise<NewKey> {
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose');
  const pair = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
  const jwk = await exportJWK(pair.privateKey);
  return { kid: await calculateJwkThumbprint(jwk), algorithm, jwk };
}

/**
 * Does not repeat the file's contents, because the error is logged and the file may be any file.
 */
function parsedKey(text: string): JWK & StagedMembers {
  try {
    return JSON.parse(text) as JWK & StagedMembers;
  } catch {
    throw new Error('it is no JSON');
  }
}

/**
 * Reads a key. Throws if it is not a key, or not for the algorithm in its name. Throws a
 * KeysLostError when the file cannot be read.
 */
export async function readKey(directory: string, name: string): Promise<SigningKey> {
  const file = path.join(directory, name);
  try {
    const jwk = parsedKey(await readFile(file, 'utf8'));
    const algorithm = algorithmOf(name);
    const { kind, type, members } = FORMS[algorithm];
    const { kid } = jwk;
    const fits = jwk.kty === type.kty && jwk.crv === type.crv;
    const hasKid = typeof kid === 'string' && kid !== '';
    if (!fits || !hasKid || [...members, 'd' as const].some((each) => jwk[each] === undefined)) {
      throw new Error(`it is not a private ${kind} key with a kid`);
    }
    if ((jwk.alg ?? algorithm) !== algorithm || (jwk.use ?? 'sig') !== 'sig') {
      throw new Error(`it is not for signing with ${algorithm}`);
    }
    const privateKey = createPrivateKey({ key: jwk as JWK, format: 'jwk' });
    // RFC 7518 section 3.3.
    if (algorithm === 'RS256' && (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
      throw new Error('it has less than 2048 bits');
    const publicJwk = publishedJwk(jwk, kid, algorithm);
    // If the file mixes the parts of two keys, all of it can be read, but no one could verify its
    // signatures.
    const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
    const text = Buffer.from(kid);
    if (!verify(DIGESTS[algorithm], text, publicKey, sign(DIGESTS[algorithm], text, privateKey)))
      throw new Error('its public part does not verify what its private part signs');
    const isStaged = isStagedFile(name);
    const signsFrom = isStaged ? jwk.signs_from : numberOf(name);
    if (!Number.isSafeInteger(signsFrom)) throw new Error('it does not say from when it signs (signs_from)');
    const createdAt = Number.isSafeInteger(jwk.created_at) ? jwk.created_at : signsFrom;
    // The encoding applies only to ES256: both numbers side by side, without DER (RFC 7518 section
    // 3.4).
    const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return {
      kid,
      algorithm,
      createdAt: createdAt as number,
      signsFrom: signsFrom as number,
      isStaged,
      file: name,
      privateKey,
      publicJwk,
      sign: (data) => signOnPool(DIGESTS[algorithm], data, key),
    };
  } catch (cause) {
    // A bad file stays bad. File permissions or a failing disk may be fixed by the next attempt.
    if (isOfFileSystem(cause)) throw new KeysLostError(`The signing key ${file} cannot be read`, cause);
    throw new Error(`The signing key ${file} cannot be read`, { cause });
  }
}

/** The public members of a key, for the key set. */
export function publishedJwk(jwk: JWK, kid: string, algorithm: SigningAlgorithm): JWK {
  const { type, members } = FORMS[algorithm];
  const published = Object.fromEntries(members.map((each) => [each, jwk[each]]));
  return { ...type, ...published, kid, alg: algorithm, use: 'sig' };
}

/**
 * With a callback, Node signs on its thread pool. `docs/decisions/0026` says what this gains for
 * each algorithm.
 */
const signOnPool = promisify(sign);

/** Extra members of a staged key, in milliseconds since 1970. Never published. */
export interface StagedMembers {
  readonly created_at?: number;
  readonly signs_from?: number;
}

/** A complete file on disk that is not a key yet. */
export interface Draft {
  /** Gives it this name, and replaces a file that has the name. */
  place(name: string): Promise<void>;
  /** Gives it this name. False if a file has the name already; that one stays. */
  placeOnce(name: string): Promise<boolean>;
  /** Removes the file, unless it was placed. Never rejects. */
  discard(): Promise<void>;
}

/**
 * Writes a key that only this user may read. For root, only the owner of the directory may read it,
 * even before the file has a key's name. Leaves nothing behind when it fails.
 */
export async function draftOf(
  directory: string,
  { kid, algorithm, jwk }: NewKey,
  staged: StagedMembers = {},
): Promise<Draft> {
  const folder = openOwnedFolder(directory);
  const draft = path.join(folder.path, `.draft-${randomIdentifier()}`);
  let discarded = false;
  const discard = async () => {
    // Its path is valid while the folder is open.
    if (!discarded) await rm(draft, { force: true }).catch(() => {});
    discarded = true;
    folder.close();
  };
  const content = { ...jwk, kid, alg: algorithm, use: 'sig', ...staged };
  try {
    // Exclusive: follows no link, and the file is new.
    const file = await open(draft, 'wx', 0o600);
    try {
      folder.give(file.fd);
      await file.writeFile(`${JSON.stringify(content, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    place: (name) => rename(draft, path.join(folder.path, name)),
    placeOnce: (name) => linkOnce(draft, path.join(folder.path, name)),
    discard,
  };
}

/** Renames a file. Readers see it under one name or both, but never under none. */
export async function renameVisibly(directory: string, from: string, to: string): Promise<void> {
  const folder = openOwnedFolder(directory);
  try {
    await linkOnce(path.join(folder.path, from), path.join(folder.path, to));
    await removeFile(folder.path, from);
  } finally {
    folder.close();
  }
}

/** Removes a file. False if it no longer existed. */
export async function removeFile(directory: string, name: string): Promise<boolean> {
  try {
    await unlink(path.join(directory, name));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/**
 * Removes drafts of processes that were killed while they wrote a key. `now` is the disk's time, in
 * milliseconds since 1970.
 */
export async function removeLeftDrafts(directory: string, now: number): Promise<void> {
  for (const name of (await readdir(directory)).filter((each) => DRAFT.test(each))) {
    const file = await stat(path.join(directory, name)).catch(() => null);
    if (file !== null && now - file.mtimeMs > LEFT_DRAFT) await removeFile(directory, name);
  }
}

async function linkOnce(existing: string, name: string): Promise<boolean> {
  try {
    await link(existing, name);
    return true;
  } catch (error) {
    // Another process was faster, or has already renamed it.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isOfFileSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
