import { keptByText } from './kept-by-text.ts';

/**
 * Matches what engines ignore before the first word of a statement: spaces, semicolons and
 * comments.
 */
export const BEFORE = String.raw`^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*`;
/**
 * Matches statements that begin or end a transaction. Does not match ROLLBACK TO, which only rolls
 * back to a savepoint, or MariaDB's BEGIN NOT ATOMIC, which begins a block of statements.
 */
const ENDS_OR_BEGINS = new RegExp(
  String.raw`${BEFORE}(?:BEGIN(?!\s+NOT\s+ATOMIC\b)|START\s+TRANSACTION|COMMIT|END|ABORT|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b`,
  'i',
);
const IS_ABOUT_SAVEPOINTS = new RegExp(String.raw`${BEFORE}(?:SAVEPOINT|RELEASE|ROLLBACK)\b`, 'i');

/**
 * Throws for a statement that begins or ends a transaction. If the transaction ended early, each
 * later statement would be committed separately. If a new transaction began, it would stay open,
 * and the next code that uses the connection would run inside it.
 */
export function refuseTransactionControl(sql: string): void {
  if (ENDS_OR_BEGINS.test(sql))
    throw new Error('Use transaction() instead of statements that begin or end a transaction');
}

const RUNS_CODE = new RegExp(String.raw`${BEFORE}(?:CALL|EXECUTE|XA|BEGIN\s+NOT\s+ATOMIC)\b`, 'i');

/**
 * Returns whether a statement can run the application's code, or is about an XA transaction. Such a
 * statement can begin or end a transaction, even if it fails.
 */
export const runsCode = keptByText((sql) => RUNS_CODE.test(sql));

/**
 * Throws for savepoint statements. Used on engines where Portico runs each transaction inside a
 * savepoint.
 */
export function refuseSavepoints(sql: string): void {
  if (IS_ABOUT_SAVEPOINTS.test(sql))
    throw new Error('Use transaction() instead of statements that begin or end a savepoint');
}
