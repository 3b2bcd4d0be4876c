/** What engines skip before the first word of a statement: spaces, semicolons and comments. */
export const BEFORE = String.raw`^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*`;
/** Does not match MariaDB's BEGIN NOT ATOMIC, which is a block of statements. */
const ENDS_OR_BEGINS = new RegExp(
  String.raw`${BEFORE}(?:BEGIN(?!\s+NOT\s+ATOMIC\b)|START\s+TRANSACTION|COMMIT|END|ABORT|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b`,
  'i',
);
const IS_ABOUT_SAVEPOINTS = new RegExp(String.raw`${BEFORE}(?:SAVEPOINT|RELEASE|ROLLBACK)\b`, 'i');

/**
 * A statement must not end a transaction: the statements after it would commit by themselves. It
 * must not begin one either: that would stay open on a connection that the next user gets.
 */
export function refuseTransactionControl(sql: string): void {
  if (ENDS_OR_BEGINS.test(sql))
    throw new Error('Use transaction(): a statement that begins or ends a transaction cannot be executed');
}

/** Also refuses savepoints, on engines where a transaction is itself a savepoint among others. */
export function refuseSavepoints(sql: string): void {
  if (IS_ABOUT_SAVEPOINTS.test(sql))
    throw new Error('Use transaction(): a statement that begins or ends a savepoint cannot be executed');
}
