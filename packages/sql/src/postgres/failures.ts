import { codesOf, type Meaning, type MeaningsOf } from '../meaning.ts';

/** SQLSTATEs with what each means. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // A standby, or a primary that was told that another one took over.
  ['25006', 'read-only'],
  // A limit of time ended the statement, or an administrator did. It ends no commit that waits for its standby.
  ['57014', 'unavailable'],
  // A limit of time ended the wait for a lock.
  ['55P03', 'unavailable'],
  // The transaction waited for its client, or took, too long; it is undone, and the connection ended.
  ['25P03', 'unavailable'],
  ['25P04', 'unavailable'],
  // What servers of several nodes that speak like PostgreSQL answer (statement_completion_unknown).
  ['40003', 'unknown'],
  // The plan is outdated; the statement is not there, or another one is.
  ['0A000', 'name'],
  ['26000', 'name'],
  ['42P05', 'name'],
]);

/**
 * Classes of them: the connection, the server that ends it, or the system below it failed, perhaps after the commit; resources are
 * short; the transaction was rolled back (serialization_failure, deadlock_detected).
 */
const CLASSES: readonly (readonly [RegExp, Meaning])[] = [
  [/^(?:08...|57P..|58...)$/, 'unknown'],
  [/^53...$/, 'unavailable'],
  [/^40...$/, 'conflict'],
];

/** Errors of `pg` that have no code. */
const UNREACHABLE =
  /timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Connection terminated|connection is closed|Client has encountered a connection error|a pool after calling end/i;

export const postgresMeanings: MeaningsOf = (error) => [
  ...codesOf(error).map((code) => MEANINGS.get(code) ?? meaningOfClass(code)),
  UNREACHABLE.test(error.message) ? 'unavailable' : undefined,
];

function meaningOfClass(code: unknown): Meaning | undefined {
  return CLASSES.find(([pattern]) => typeof code === 'string' && pattern.test(code))?.[1];
}

/** Whether the statement was planned for a schema that has changed since. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && codesOf(error).includes('0A000');
}
