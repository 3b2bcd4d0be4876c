import { getDialect, type Database, type SqlConnection } from '@portico/sql';
import { randomToken } from '../../crypto.ts';
import type { PersonReference } from '../../person.ts';

/** How long a row is kept, in milliseconds. Every request takes less time. */
const KEPT = 3_600_000;
/** The maximum time in which a transaction of the host commits, in milliseconds. */
const LONGEST_TRANSACTION = 60_000;

/**
 * Replaces the provisional end time of the sessions with the actual time. Call it after the commit.
 */
export type Committed = (now: number) => Promise<void>;

/**
 * Stores when all sessions of a user last ended. `oauth_sessions` has no row for a session without
 * a sign-in to a client. So each request compares this time with the time at which it read its
 * session from the host.
 *
 * Requests and sign-outs first write the user's row in this table, so one waits for the other.
 */
export class EndedPeople {
  readonly #database: Database;
  readonly #insert: string;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = getDialect(database).insertIfNone(PERSON, '(user_provider, user_id)');
  }

  /**
   * Returns true if an authorization may begin in a session that the server read from the host at
   * `readAt`. Until the caller's transaction ends, no other request can end the user's sessions.
   */
  async mayBegin(
    connection: SqlConnection,
    { provider, id }: PersonReference,
    { hash, readAt }: { readonly hash: string; readonly readAt: number },
    now: number,
  ): Promise<boolean> {
    const until = now + KEPT;
    await connection.execute(this.#insert, [provider, id, 0, '', '', until]);
    const claim = await connection.execute(CLAIM, [until, provider, id, readAt, hash]);
    return claim.affected === 1;
  }

  /**
   * Ends all sessions of the user except one. Other requests may read the old sessions until the
   * commit, so this method stores a time in the future. The returned function corrects it after the
   * commit.
   */
  async end(
    connection: SqlConnection,
    { provider, id }: PersonReference,
    exceptHash: string,
    now: number,
  ): Promise<Committed> {
    const end = randomToken();
    await connection.execute(this.#insert, [provider, id, 0, '', '', now + KEPT]);
    const latest = now + LONGEST_TRANSACTION;
    await connection.execute(END, [latest, end, exceptHash, now + KEPT, provider, id]);
    return async (committedAt) => {
      await this.#database.execute(COMMITTED, [Math.min(committedAt, latest), provider, id, end]);
    };
  }

  /** Returns true if there was anything to remove. */
  async forget(connection: SqlConnection, { provider, id }: PersonReference): Promise<boolean> {
    return (await connection.execute(FORGET, [provider, id])).affected > 0;
  }

  /** Removes at most `limit` old rows. Returns how many it found. */
  async prune(now: number, limit: number): Promise<number> {
    const { rows } = await this.#database.execute<{ provider: string; id: string }>(
      `SELECT user_provider AS provider, user_id AS id FROM oauth_session_people
      WHERE prune_after < ? ORDER BY prune_after LIMIT ${limit}`,
      [now],
    );
    for (const { provider, id } of rows)
      await this.#database.execute(FORGET_OLD, [provider, id, now]);
    return rows.length;
  }
}

const PERSON = `oauth_session_people
  (user_provider, user_id, ended_at, ended_by, except_hash, prune_after) VALUES (?, ?, ?, ?, ?, ?)`;
const CLAIM = `UPDATE oauth_session_people SET prune_after = ?
  WHERE user_provider = ? AND user_id = ? AND (ended_at < ? OR except_hash = ?)`;
const END = `UPDATE oauth_session_people
  SET ended_at = ?, ended_by = ?, except_hash = ?, prune_after = ?
  WHERE user_provider = ? AND user_id = ?`;
const COMMITTED = `UPDATE oauth_session_people SET ended_at = ?
  WHERE user_provider = ? AND user_id = ? AND ended_by = ?`;
const FORGET = 'DELETE FROM oauth_session_people WHERE user_provider = ? AND user_id = ?';
const FORGET_OLD = `${FORGET}
  AND prune_after < ?`;
