import { BEFORE } from '../transaction-control.ts';

/** Does not match MariaDB's SET STATEMENT, which is about one statement. */
const IS_ABOUT_SESSION = new RegExp(String.raw`${BEFORE}SET\s+(?!(?:STATEMENT|GLOBAL)\s)`, 'i');

/** Whether the statement may change the session's isolation level, or switch off its autocommit. */
export function isAboutSession(sql: string): boolean {
  return IS_ABOUT_SESSION.test(sql);
}
