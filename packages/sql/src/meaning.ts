/**
 * What an error means for the statement or commit that failed. If no engine recognizes the error,
 * the statement itself is wrong. It did nothing and would fail again.
 */
export type Meaning =
  /** It did nothing. The same statement may succeed later or on another connection. */
  | 'unavailable'
  /** It did nothing, because the server is read-only. For example, another server took over. */
  | 'read-only'
  /** A conflict rolled back the whole transaction. It can run again. */
  | 'conflict'
  /**
   * It did nothing, because a prepared statement's name was wrong. The next run uses another name,
   * or none.
   */
  | 'name'
  /** The outcome is unknown. */
  | 'unknown';

/** Returns an error's meanings. Empty for another engine's error. */
export type MeaningsOf = (error: Error) => readonly (Meaning | undefined)[];

/** Returns the error's codes from drivers and Node. */
export function getErrorCodes(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}
