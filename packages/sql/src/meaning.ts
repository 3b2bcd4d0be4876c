/**
 * What an error says of the statement or the commit that it ended. Whatever no engine knows is the statement's own fault: it did
 * nothing, and would do nothing the next time.
 */
export type Meaning =
  /** It did nothing. The same may succeed later, or on another connection. */
  | 'unavailable'
  /** It did nothing: the server may only be read from, as one that another took over from. */
  | 'read-only'
  /** A conflict with others undid it, and all of its transaction: it can be done again. */
  | 'conflict'
  /** The name of a prepared statement was wrong. It did nothing; run again, it has another name, or none. */
  | 'name'
  /** Nobody knows whether it took effect. */
  | 'unknown';

/** What an error means; nothing for one that is not the engine's. It may mean several. */
export type MeaningsOf = (error: Error) => readonly (Meaning | undefined)[];

/** The codes of an error, as drivers and Node give them. */
export function codesOf(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}
