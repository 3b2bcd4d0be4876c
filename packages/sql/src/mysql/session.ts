import { BEFORE } from '../transaction-control.ts';

/** Matches SET, except MariaDB's SET STATEMENT, which affects only one statement. */
const IS_ABOUT_SESSION = new RegExp(String.raw`${BEFORE}SET\s+(?!(?:STATEMENT|GLOBAL)\s)`, 'i');

/** Whether the statement may change the session's isolation level or turn off autocommit. */
export function isAboutSession(sql: string): boolean {
  return IS_ABOUT_SESSION.test(sql);
}
