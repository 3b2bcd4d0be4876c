import type { MeaningsOf } from '../meaning.ts';
import { isError } from '../is-error.ts';

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const CANTOPEN = 14;
const NOTADB = 26;
/** Too many processes took the locks of the write-ahead log at the same time. */
const PROTOCOL = 15;
/** Another connection has a lock. */
const WAITING: ReadonlySet<unknown> = new Set([BUSY, LOCKED, PROTOCOL]);
/** The result codes after which the same call may succeed later. 10 and 13 are IOERR and FULL. */
const UNAVAILABLE: ReadonlySet<unknown> = new Set([...WAITING, READONLY, CANTOPEN, 10, 13]);
/** The code BUSY_SNAPSHOT: another transaction changed data that this transaction has read. */
const CONFLICT = 517;

/**
 * Returns whether the error means that another connection has a lock, or that too many writes are
 * waiting.
 */
export function isSqliteBusy(error: unknown): boolean {
  return WAITING.has(primaryCode(error));
}

/** Returns whether the file is read-only or was replaced. A new connection may work. */
export function isSqliteReadOnly(error: unknown): boolean {
  return primaryCode(error) === READONLY;
}

/** Returns whether the same call may succeed later, according to the error's result code. */
export function isSqliteUnavailable(error: unknown): boolean {
  return UNAVAILABLE.has(primaryCode(error));
}

/** Returns whether the file cannot be opened, read or written for a reason other than a lock. */
export function isSqliteAboutFile(error: unknown): boolean {
  const isUnusable = isSqliteUnavailable(error) && !isSqliteBusy(error);
  return isUnusable || primaryCode(error) === NOTADB;
}

export const sqliteMeanings: MeaningsOf = (error) => [
  isSqliteUnavailable(error) ? 'unavailable' : undefined,
  resultCode(error) === CONFLICT ? 'conflict' : undefined,
];

/** Creates an error like SQLite's own error for a busy database. */
export function busy(message: string): Error {
  return Object.assign(new Error(message), { errcode: BUSY });
}

/** Creates an error like SQLite's own error for a file that cannot be opened. */
export function cannotOpen(cause: unknown): Error {
  const reason = isError(cause) ? cause.message : String(cause);
  const message = `unable to open database file: ${reason}`;
  return Object.assign(new Error(message, { cause }), { errcode: CANTOPEN });
}

/**
 * Creates an error like SQLite's own error for a transaction whose data another transaction
 * changed.
 */
export function conflict(message: string): Error {
  return Object.assign(new Error(message), { errcode: CONFLICT });
}

/**
 * Returns the primary result code, which is the low byte of the extended one. Returns null if the
 * error has no result code.
 */
function primaryCode(error: unknown): number | null {
  const code = resultCode(error);
  return code === null ? null : code & 0xff;
}

function resultCode(error: unknown): number | null {
  if (!isError(error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode;
}
