/**
 * What an error says about the statement or commit that it ended. An error that no engine
 * recognizes is the statement's own fault: it did nothing, and would fail again.
 */
export type Meaning =
  /** It did nothing. The same may succeed later or on another connection. */
  | 'unavailable'
  /** It did nothing: the server is read-only, for example because another one took over. */
  | 'read-only'
  /** A conflict undid it and its whole transaction. It can run again. */
  | 'conflict'
  /**
   * The name of a prepared statement was wrong. It did nothing. The next run uses another name, or
   * none.
   */
  | 'name'
  /** The outcome is unknown. */
  | 'unknown';

/** The meanings of an error. Empty for an error of another engine. */
export type MeaningsOf = (error: Error) => readonly (Meaning | undefined)[];

/** The codes of an error, as drivers and Node give them. */
export function getErrorCodes(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}
