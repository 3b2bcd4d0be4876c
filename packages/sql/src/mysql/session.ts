import { BEFORE } from '../transaction-control.ts';

/** MariaDB's SET STATEMENT is for one statement. */
const IS_ABOUT_SESSION = new RegExp(String.raw`${BEFORE}SET\s+(?!(?:STATEMENT|GLOBAL)\s)`, 'i');

/** Whether the statement may leave the connection with another isolation level, or without a commit after each statement. */
export function isAboutSession(sql: string): boolean {
  return IS_ABOUT_SESSION.test(sql);
}
