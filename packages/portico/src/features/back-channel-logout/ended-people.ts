import { getDialect, type Database, type SqlConnection } from '@portico/sql';
import { randomToken } from '../../crypto.ts';
import type { PersonReference } from '../../person.ts';

/** How long a row stays, in milliseconds. No request runs longer. */
const KEPT = 3_600_000;
/** How long the host's transaction may take until it commits, in milliseconds. */
const LONGEST_TRANSACTION = 60_000;

/** Corrects the time of an end after the commit. */
export type Committed = (now: number) => Promise<void>;

/**
 * When all sessions of a person ended last. A session without a sign-in at a client has no row to
 * end, but a request that is still running may know it. So such a request compares times. Both
 * sides write the person's row first, so that one waits for the other.
 */
export class EndedPeople {
  readonly #database: Database;
  readonly #insert: string;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = getDialect(database).insertIfNone(PERSON, '(user_provider, user_id)');
  }

  /**
   * Returns whether a session of the person that the host was asked for at `readAt` still counts.
   * Until the caller's transaction ends, the person's sessions cannot end.
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
   * Ends all sessions of the person except one. A request may still read the host's sessions before
   * this transaction commits. So the end counts as later, until the commit is known.
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

  async forget(connection: SqlConnection, { provider, id }: PersonReference): Promise<void> {
    await connection.execute(FORGET, [provider, id]);
  }

  /** Removes at most `limit` old rows. Returns how many it removed. */
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
