import { keptByText } from '../kept-by-text.ts';
import { BEFORE } from '../transaction-control.ts';

/** Matches SET, except MariaDB's SET STATEMENT, which affects only one statement. */
const SETS = new RegExp(String.raw`${BEFORE}SET\s+(?!(?:STATEMENT|GLOBAL)\s)`, 'i');
/** Matches a statement that takes or releases a named lock. The session keeps such a lock. */
const LOCKS = /\b(GET|RELEASE)_LOCK\s*\(/i;

const COUNTS: Readonly<Record<string, number>> = { GET: 1, RELEASE: -1 };

const getEffect = keptByText((sql) => ({
  sets: SETS.test(sql),
  locks: COUNTS[LOCKS.exec(sql)?.[1]?.toUpperCase() ?? ''] ?? 0,
}));

/** Whether statements have changed a session, so that its connection must not be used again. */
export class SessionChanges {
  #isSet = false;
  #locks = 0;

  /**
   * Whether a statement may have changed the isolation level or autocommit, or a named lock was not
   * released.
   */
  get remain(): boolean {
    return this.#isSet || this.#locks > 0;
  }

  /** Records a statement of the session. */
  add(sql: string): void {
    const { sets, locks } = getEffect(sql);
    this.#isSet ||= sets;
    this.#locks += locks;
  }
}
