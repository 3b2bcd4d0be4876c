/**
 * What an error means for the statement or commit that failed. If no engine recognizes the error,
 * the statement itself is wrong: it did nothing, and it would fail again.
 */
export type Meaning =
  /** The statement did nothing. The same statement may succeed later or on another connection. */
  | 'unavailable'
  /**
   * The statement did nothing, because the server is read-only, for example after a failover to
   * another server.
   */
  | 'read-only'
  /** A conflict rolled back the whole transaction. The transaction can run again. */
  | 'conflict'
  /**
   * The statement did nothing, because the name of a prepared statement was wrong. The next attempt
   * uses another name or none.
   */
  | 'name'
  /** It is unknown whether the statement or commit took effect. */
  | 'unknown';

/** Returns the meanings of an error. Empty for an error of another engine. */
export type MeaningsOf = (error: Error) => readonly (Meaning | undefined)[];

/** Returns the codes of an error, from the driver and from Node. */
export function getErrorCodes(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}
