/** Matches what engines ignore before a statement's first word: spaces, semicolons and comments. */
export const BEFORE = String.raw`^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*`;
/** Does not match MariaDB's BEGIN NOT ATOMIC, which is a block of statements. */
const ENDS_OR_BEGINS = new RegExp(
  String.raw`${BEFORE}(?:BEGIN(?!\s+NOT\s+ATOMIC\b)|START\s+TRANSACTION|COMMIT|END|ABORT|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b`,
  'i',
);
const IS_ABOUT_SAVEPOINTS = new RegExp(String.raw`${BEFORE}(?:SAVEPOINT|RELEASE|ROLLBACK)\b`, 'i');

/**
 * Throws for a statement that begins or ends a transaction. After an ended transaction, later
 * statements would commit by themselves. A transaction that a statement begins would stay open, and
 * the connection's next user would be inside it.
 */
export function refuseTransactionControl(sql: string): void {
  if (ENDS_OR_BEGINS.test(sql))
    throw new Error('Use transaction() instead of statements that begin or end a transaction');
}

/** Throws for savepoints, on engines where each transaction is itself a savepoint. */
export function refuseSavepoints(sql: string): void {
  if (IS_ABOUT_SAVEPOINTS.test(sql))
    throw new Error('Use transaction() instead of statements that begin or end a savepoint');
}
