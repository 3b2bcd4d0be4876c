import { getDialect, type Database, type SqlConnection } from '@portico/sql';
import { orderedIdentifier, tokenHash } from '../../crypto.ts';
import { removeWaiting } from './outbox-messages.ts';
import { insertInto, placeholders } from './statements.ts';

/** The due time of receivers without a due delivery. */
const NEVER = Number.MAX_SAFE_INTEGER;
/** How long a receiver without messages is kept after its last message, in milliseconds. */
const KEPT = 30 * 86_400_000;
const SHOWN = 50;

/** Until the lease ends, only this process may deliver to the receiver. */
export interface Lease {
  readonly id: string;
  readonly kind: string;
  readonly holder: string;
  /** The number of failed attempts in a row. */
  readonly failures: number;
}

export interface TurnEnd extends LeaseEnd {
  /** The id of the last message if it was delivered. Its row must be removed. */
  readonly delivered: string | null;
}

interface LeaseEnd {
  /** In milliseconds since 1970. */
  readonly dueAt: number;
  readonly isTroubled: boolean;
}

export interface FailedMessage {
  /** The message's id. */
  readonly message: string;
  readonly reason: string;
  /** True to move the message behind the receiver's other messages. */
  readonly isLast: boolean;
}

export interface AddedMessage {
  readonly kind: string;
  readonly receiver: string;
  readonly payload: string;
  readonly expiresAt: number;
  readonly pruneAfter: number;
}

interface DueRow {
  readonly id: string;
  readonly kind: string;
  readonly failures: number;
}

/** How many messages of one kind were dropped for a receiver: too many were waiting. */
export interface DroppedMessages {
  readonly kind: string;
  readonly receiver: string;
  /** Since an operator last discarded the receiver's messages. */
  readonly dropped: number;
}

/** Each row records which process delivers to the receiver, and when. */
export class OutboxReceivers {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Adds a message in the caller's transaction. If `most` messages are already waiting, counts this
   * one as dropped and returns false. Writes the receiver's row first, so that messages are
   * numbered in the order of their commits.
   */
  async add(
    connection: SqlConnection,
    { kind, receiver, payload, expiresAt, pruneAfter }: AddedMessage,
    most: number,
    now: number,
  ): Promise<boolean> {
    const id = tokenHash(JSON.stringify([kind, receiver]));
    if (!(await this.#count(connection, id, most, now))) {
      const row = `oauth_outbox_receivers (${RECEIVER}) VALUES (?, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?)`;
      const statement = getDialect(this.#database).insertIfNone(row, '(id)');
      await connection.execute(statement, [id, kind, receiver, NEVER, now]);
      if (!(await this.#count(connection, id, most, now))) {
        await connection.execute(DROP, [now, id]);
        return false;
      }
    }
    const { rows } = await connection.execute<{ number: number }>(
      'SELECT last_number AS number FROM oauth_outbox_receivers WHERE id = ?',
      [id],
    );
    const number = rows[0]?.number ?? 0;
    const values = [orderedIdentifier(now), id, kind, receiver, number, payload];
    await connection.execute(MESSAGE, [...values, 0, now, expiresAt, pruneAfter]);
    return true;
  }

  async #count(connection: SqlConnection, id: string, most: number, now: number): Promise<boolean> {
    return (await connection.execute(COUNT, [now, now, id, most])).affected === 1;
  }

  /**
   * Takes a lease on at most `limit` receivers with a due delivery, longest waiting first. The
   * lease moves `due_at`, so that no other process takes the receiver. Never waits: skips receivers
   * that another transaction is adding messages for.
   */
  async claim(
    kinds: readonly string[],
    isTroubled: boolean,
    { now, until }: { readonly now: number; readonly until: number },
    limit: number,
  ): Promise<readonly Lease[]> {
    const due = `SELECT id, kind, failures FROM oauth_outbox_receivers
      WHERE is_troubled = ? AND due_at <= ? AND kind IN (${placeholders(kinds)})
      ORDER BY is_troubled, due_at LIMIT ${limit}`;
    const parameters = [isTroubled ? 1 : 0, now, ...kinds];
    // Search without a transaction first: most searches find nothing.
    if ((await this.#database.execute(due, parameters)).rows.length === 0) return [];
    const { lockingUnlocked } = getDialect(this.#database);
    return this.#database.transaction(async (connection) => {
      const free = await connection.execute<DueRow>(`${due}${lockingUnlocked}`, parameters);
      const leases = free.rows.map((row) => ({ ...row, holder: orderedIdentifier(now) }));
      for (const { id, holder } of leases) await connection.execute(CLAIM, [holder, until, id]);
      return leases;
    });
  }

  /** Returns false if the lease has ended. */
  async renew({ id, holder }: Lease, now: number, until: number): Promise<boolean> {
    const { affected } = await this.#database.execute(
      'UPDATE oauth_outbox_receivers SET due_at = ? WHERE id = ? AND holder = ? AND due_at > ?',
      [until, id, holder, now],
    );
    return affected === 1;
  }

  /** Ends a lease. Removes the last delivered message in the same transaction. */
  async release(lease: Lease, { dueAt, isTroubled, delivered }: TurnEnd): Promise<void> {
    await this.#database.transaction(async (connection) => {
      const isRemoved = delivered !== null && (await removeWaiting(connection, delivered));
      const ended = { dueAt, isTroubled, failures: 0, reason: null };
      const isCounted = await end(connection, lease, ended);
      if (isRemoved && !isCounted) await connection.execute(ONE_LESS, [lease.id]);
    });
  }

  /**
   * Ends a lease after a failed attempt. If `isLast` is true, moves the message behind the others.
   */
  async fail(
    lease: Lease,
    { message, reason, isLast }: FailedMessage,
    dueAt: number,
  ): Promise<void> {
    const failures = lease.failures + 1;
    await this.#database.transaction(async (connection) => {
      await connection.execute(
        'UPDATE oauth_outbox_messages SET attempts = attempts + 1, reason = ? WHERE id = ?',
        [reason, message],
      );
      if (isLast) {
        await connection.execute(NEXT_NUMBER, [lease.id]);
        await connection.execute(MOVE_BACK, [BEHIND, lease.id, message]);
      }
      await end(connection, lease, { dueAt, isTroubled: true, failures, reason });
    });
  }

  /** Makes waiting deliveries due now, even after failed attempts. */
  async hurry(receiver: string | null, now: number): Promise<void> {
    const which = receiver === null ? '' : ' AND receiver = ?';
    await this.#database.execute(
      `UPDATE oauth_outbox_receivers SET due_at = ? WHERE waiting > 0 AND holder IS NULL${which}`,
      receiver === null ? [now] : [now, receiver],
    );
  }

  /** Returns the receivers with the most dropped messages. */
  async dropped(): Promise<readonly DroppedMessages[]> {
    const { rows } = await this.#database.execute<DroppedMessages & Record<string, unknown>>(
      `SELECT kind, receiver, dropped FROM oauth_outbox_receivers WHERE dropped > 0
      ORDER BY dropped DESC, id LIMIT ${SHOWN}`,
    );
    return rows.map(({ kind, receiver, dropped }) => ({
      kind,
      receiver,
      dropped,
    }));
  }

  /** Call this after an operator has discarded the receiver's messages. */
  async forgetDropped(receiver: string | null): Promise<void> {
    const which = receiver === null ? '' : ' AND receiver = ?';
    await this.#database.execute(
      `UPDATE oauth_outbox_receivers SET dropped = 0 WHERE dropped > 0${which}`,
      receiver === null ? [] : [receiver],
    );
  }

  /**
   * Removes receivers without messages whose last message is more than a month old. Returns their
   * number.
   */
  async removeIdle(now: number, limit: number): Promise<number> {
    const { rows } = await this.#database.execute<{ id: string }>(
      `SELECT id FROM oauth_outbox_receivers WHERE ${IDLE} ORDER BY used_at LIMIT ${limit}`,
      [now - KEPT],
    );
    if (rows.length === 0) return 0;
    const { affected } = await this.#database.execute(
      `DELETE FROM oauth_outbox_receivers WHERE id IN (${placeholders(rows)}) AND ${IDLE}`,
      [...rows.map(({ id }) => id), now - KEPT],
    );
    return affected;
  }
}

const RECEIVER =
  'id, kind, receiver, last_number, waiting, undelivered, dropped, failures, is_troubled, ' +
  'due_at, used_at';
const MESSAGE = insertInto(
  'oauth_outbox_messages',
  'id, receiver_id, kind, receiver, number, payload, attempts, created_at, expires_at, prune_after',
);
// MySQL assigns from left to right. So `waiting` comes after the columns that depend on it. During
// a lease, a new message does not change `due_at`.
const COUNT = `UPDATE oauth_outbox_receivers SET
    due_at = CASE WHEN waiting = 0 AND holder IS NULL THEN ? ELSE due_at END,
    last_number = last_number + 1, used_at = ?, waiting = waiting + 1
  WHERE id = ? AND waiting < ?`;
const DROP = 'UPDATE oauth_outbox_receivers SET dropped = dropped + 1, used_at = ? WHERE id = ?';
/**
 * Added to the number of a message that moves behind the others. No message that has not been moved
 * has a number this large.
 */
const BEHIND = 2 ** 50;
const NEXT_NUMBER = 'UPDATE oauth_outbox_receivers SET last_number = last_number + 1 WHERE id = ?';
const MOVE_BACK = `UPDATE oauth_outbox_messages SET number = ? +
    (SELECT last_number FROM oauth_outbox_receivers WHERE id = ?)
  WHERE id = ?`;
const IDLE = 'used_at < ? AND waiting = 0 AND undelivered = 0 AND holder IS NULL';
const CLAIM = 'UPDATE oauth_outbox_receivers SET holder = ?, due_at = ? WHERE id = ?';
const END = `UPDATE oauth_outbox_receivers
  SET holder = NULL, is_troubled = ?, failures = ?, reason = ? WHERE id = ? AND holder = ?`;
const ONE_LESS = 'UPDATE oauth_outbox_receivers SET waiting = waiting - 1 WHERE id = ?';
const WAITING = `SELECT COUNT(*) - COUNT(undelivered_at) AS waiting
  FROM oauth_outbox_messages WHERE receiver_id = ?`;

interface Ended extends LeaseEnd {
  readonly failures: number;
  readonly reason: string | null;
}

/**
 * Ends a lease and counts the waiting messages. Returns false if the lease had already ended.
 *
 * The first statement locks the row, so that no message is added before the count is written. With
 * a count that is too high, the receiver would be due again without a message.
 */
async function end(
  connection: SqlConnection,
  { id, holder }: Lease,
  { dueAt, isTroubled, failures, reason }: Ended,
): Promise<boolean> {
  const values = [isTroubled ? 1 : 0, failures, reason, id, holder];
  if ((await connection.execute(END, values)).affected !== 1) return false;
  const { rows } = await connection.execute<{ waiting: number }>(WAITING, [id]);
  const waiting = rows[0]?.waiting ?? 0;
  await connection.execute(
    'UPDATE oauth_outbox_receivers SET waiting = ?, due_at = ? WHERE id = ?',
    [waiting, waiting > 0 ? dueAt : NEVER, id],
  );
  return true;
}
