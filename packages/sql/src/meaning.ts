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
  /**
   * The server refuses the connection, because the user, the password or the database is wrong. An
   * operator must correct this, on the server or in the configuration.
   */
  | 'refused'
  /** A conflict rolled back the whole transaction. The transaction can run again. */
  | 'conflict'
  /**
   * The statement did nothing, because the name of a prepared statement was wrong. The next attempt
   * uses another name or none.
   */
  | 'name'
  /** It is unknown whether the statement or commit took effect. */
  | 'unknown';

/**
 * Returns the meanings of an error. For an error of another engine, the list contains no meaning.
 */
export type MeaningsOf = (error: Error) => readonly (Meaning | undefined)[];

/** The server errors that a wrong database URL causes, each with what to do about it. */
export type Remedies = readonly (readonly [of: RegExp, remedy: string])[];

/**
 * Returns what to do about an error that a wrong database URL causes, or null for any other error.
 */
export type RemedyOf = (error: Error) => string | null;

/** Returns the first remedy whose pattern matches the code, the number or the message. */
export function findRemedy(remedies: Remedies, error: Error): string | null {
  const texts = [...getErrorCodes(error).map(String), error.message];
  return remedies.find(([pattern]) => texts.some((text) => pattern.test(text)))?.[1] ?? null;
}

/** Returns the codes of an error, from the driver and from Node. */
export function getErrorCodes(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}
