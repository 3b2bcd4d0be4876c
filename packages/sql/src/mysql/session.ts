import { keptByText } from '../kept-by-text.ts';
import { BEFORE, runsCode } from '../transaction-control.ts';

/** A session variable, and the value that Portico needs. */
export type SessionSetting = readonly [name: string, value: string];

/**
 * The settings that can change what a statement means or how many of the matching rows it affects.
 */
export const WHOLE: readonly SessionSetting[] = [
  ['sql_mode', "'TRADITIONAL'"],
  ['sql_select_limit', '18446744073709551615'],
  ['sql_safe_updates', '0'],
  ['sql_big_selects', '1'],
  // With another value, each commit could begin a new transaction, which would still be open when
  // the connection is returned to the pool.
  ['completion_type', '0'],
];

/**
 * On a Galera node, `wsrep_sync_wait = 7` makes reads, UPDATE, DELETE, INSERT and REPLACE wait
 * until the commits of other nodes are applied. With `wsrep_dirty_reads = 0`, a node that has lost
 * its cluster rejects reads, even if the server's default allows them.
 */
export const GALERA: readonly SessionSetting[] = [
  ['wsrep_sync_wait', '7'],
  ['wsrep_dirty_reads', '0'],
];

/** Returns the assignments of these settings for a SET statement. */
export function assign(settings: readonly SessionSetting[]): string {
  return settings.map(([name, value]) => `SESSION ${name} = ${value}`).join(', ');
}

/**
 * Returns the assignments that save the settings in variables of the session, for a SET statement.
 */
export function save(settings: readonly SessionSetting[]): string {
  return settings.map(([name]) => `@portico_${name} = @@SESSION.${name}`).join(', ');
}

/** Returns the assignments that restore the saved settings, for a SET statement. */
export function restore(settings: readonly SessionSetting[]): string {
  const values = settings.map(([name]) => `SESSION ${name} = @portico_${name}`);
  return [...values, ...settings.map(([name]) => `@portico_${name} = NULL`)].join(', ');
}

/**
 * Matches SET and USE. Does not match SET GLOBAL, which does not affect this session, or MariaDB's
 * SET STATEMENT, which affects only one statement.
 */
const SETS = new RegExp(String.raw`${BEFORE}(?:SET\b(?!\s+(?:STATEMENT|GLOBAL)\b)|USE\b)`, 'i');
/** Matches a statement that takes or releases a named lock. The lock belongs to the session. */
const LOCKS = /\b(GET|RELEASE)_LOCK\s*\(/gi;

const COUNTS: Readonly<Record<string, number>> = { GET: 1, RELEASE: -1 };

const getEffect = keptByText((sql) => ({
  sets: SETS.test(sql),
  locks: [...sql.matchAll(LOCKS)].reduce(
    (sum, [, kind = '']) => sum + (COUNTS[kind.toUpperCase()] ?? 0),
    0,
  ),
}));

/**
 * Tracks whether statements have changed a session, so that its connection must not be used again.
 */
export class SessionChanges {
  #isSet = false;
  #locks = 0;
  #isIdle: boolean | null = null;

  /**
   * Whether a statement may have changed the settings or the database of the session, or may have
   * left a named lock or a transaction open.
   */
  get remain(): boolean {
    return this.#isSet || this.#locks > 0 || this.#isIdle === false;
  }

  /** Whether no transaction is open. Null if the server has not reported it. */
  get isIdle(): boolean | null {
    return this.#isIdle;
  }

  /**
   * Records whether a statement changes the session's settings, and which named locks it takes or
   * releases.
   */
  add(sql: string): void {
    const { sets, locks } = getEffect(sql);
    this.#isSet ||= sets;
    // Do not count below zero: the server also accepts the release of a lock that the session does
    // not hold.
    this.#locks = Math.max(0, this.#locks + locks);
  }

  /** Runs a statement, and records whether it left a transaction open. */
  async watch<Answer>(sql: string, run: () => Promise<Answer>): Promise<Answer> {
    // The server does not report the status if the statement fails. After the application's code,
    // assume that a transaction is open.
    const otherwise = runsCode(sql) ? false : null;
    if (otherwise === false) this.#isIdle = otherwise;
    try {
      const answer = await run();
      this.#isIdle = isIdleAfter(answer);
      return answer;
    } catch (error) {
      this.#isIdle = otherwise;
      throw error;
    }
  }
}

/** The value of the flag SERVER_STATUS_IN_TRANS. */
export const IN_TRANSACTION = 1;

/**
 * Returns whether no transaction is open after this response. Returns null for rows, because the
 * driver does not report the status with them. The last result of a procedure is its status.
 */
function isIdleAfter(answer: unknown): boolean | null {
  const results: readonly unknown[] = Array.isArray(answer) ? answer : [[], answer];
  if (!Array.isArray(results[0])) return null;
  const { serverStatus } = results.at(-1) as { readonly serverStatus?: number };
  return serverStatus === undefined ? null : (serverStatus & IN_TRANSACTION) === 0;
}
