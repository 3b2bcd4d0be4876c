import type { MeaningsOf } from '../meaning.ts';

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
/** The numbers are IOERR, FULL and CANTOPEN. */
const UNAVAILABLE: ReadonlySet<unknown> = new Set([BUSY, LOCKED, READONLY, 10, 14, 13]);
/** BUSY_SNAPSHOT: what was read has changed. */
const CONFLICT = 517;

/** BUSY and LOCKED: another process is writing. */
export function isSqliteBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** The file is read-only, or was replaced. A new connection may work. */
export function isSqliteReadOnly(error: unknown): boolean {
  return primaryCode(error) === READONLY;
}

/** SQLite's result codes that mean "not now". */
export function isSqliteUnavailable(error: unknown): boolean {
  return UNAVAILABLE.has(primaryCode(error));
}

export const sqliteMeanings: MeaningsOf = (error) => [
  isSqliteUnavailable(error) ? 'unavailable' : undefined,
  resultCode(error) === CONFLICT ? 'conflict' : undefined,
];

/** The same error that SQLite reports when it is too busy. */
export function busy(message: string): Error {
  return Object.assign(new Error(message), { errcode: BUSY });
}

/** The same error that SQLite reports when another transaction changed what this one has read. */
export function conflict(message: string): Error {
  return Object.assign(new Error(message), { errcode: CONFLICT });
}

/** The low byte of the extended result code. */
function primaryCode(error: unknown): number | null {
  const code = resultCode(error);
  return code === null ? null : code & 0xff;
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode;
}
