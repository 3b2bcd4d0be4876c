const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
/** Besides: IOERR, CANTOPEN, FULL. */
const UNAVAILABLE: ReadonlySet<unknown> = new Set([BUSY, LOCKED, READONLY, 10, 14, 13]);
/** BUSY_SNAPSHOT: what was read is no longer so. */
const CONFLICT = 517;

/** BUSY and LOCKED: another process is writing. */
export function isSqliteBusy(error: unknown): boolean {
  const code = primaryCodeOf(error);
  return code === BUSY || code === LOCKED;
}

/** The file may only be read, or is no longer the one that was opened: another connection may find it otherwise. */
export function isSqliteReadOnly(error: unknown): boolean {
  return primaryCodeOf(error) === READONLY;
}

/** SQLite's result codes that mean "not now". */
export function isSqliteUnavailable(error: unknown): boolean {
  return UNAVAILABLE.has(primaryCodeOf(error));
}

export function isSqliteConflict(error: unknown): boolean {
  return codeOf(error) === CONFLICT;
}

/** As SQLite itself says that there is too much to do. */
export function busy(message: string): Error {
  return Object.assign(new Error(message), { errcode: BUSY });
}

/** As SQLite itself says that what a transaction has read was changed by another one. */
export function conflict(message: string): Error {
  return Object.assign(new Error(message), { errcode: CONFLICT });
}

/** The low byte of the extended result code. */
function primaryCodeOf(error: unknown): number | null {
  const code = codeOf(error);
  return code === null ? null : code & 0xff;
}

function codeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode;
}
