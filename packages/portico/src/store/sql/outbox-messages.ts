import type { Database, SqlConnection, SqlParameter } from '@portico/sql';
import { placeholders } from './statements.ts';

/** In milliseconds. */
export const KEPT_UNDELIVERED = 7 * 86_400_000;
/** For one receiver. */
const MOST_UNDELIVERED = 1000;

/** A message without its payload. */
export interface OutboxRow {
  readonly id: string;
  readonly kind: string;
  readonly receiver: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly undeliveredAt: number | null;
}

export interface QueuedMessage extends OutboxRow {
  readonly payload: string;
}

const STATES = {
  waiting: 'undelivered_at IS NULL',
  undelivered: 'undelivered_at IS NOT NULL',
} as const;

export interface OutboxSelection {
  readonly id?: string;
  readonly receiver?: string;
  readonly state?: keyof typeof STATES;
}

export class OutboxMessages {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** In order. */
  async next(receiverId: string, limit: number): Promise<readonly QueuedMessage[]> {
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS}, payload FROM oauth_outbox_messages
      WHERE receiver_id = ? AND undelivered_at IS NULL ORDER BY receiver_id, number LIMIT ${limit}`,
      [receiverId],
    );
    return rows.map((row) => ({ ...toOutboxRow(row), payload: row.payload }));
  }

  /** Newest first. */
  async list(
    selection: OutboxSelection,
    before: string | null,
    limit: number,
  ): Promise<readonly OutboxRow[]> {
    const { where, parameters } = conditions(selection);
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS} FROM oauth_outbox_messages
      WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ${limit}`,
      [...parameters, before ?? BEHIND_ALL],
    );
    return rows.map(toOutboxRow);
  }

  async removeDelivered(receiverId: string, id: string): Promise<void> {
    await this.#database.transaction((connection) => removeOne(connection, { id, receiverId }));
  }

  /** Removes messages, even waiting ones. Returns their number. */
  async remove(ids: readonly string[]): Promise<number> {
    const found = await this.#find(ids);
    return this.#database.transaction(async (connection) => {
      let removed = 0;
      for (const each of found) if (await removeOne(connection, each)) removed += 1;
      return removed;
    });
  }

  /**
   * Marks a message as undelivered. The server sends it again only after an operator restores it.
   */
  async setAside(receiverId: string, id: string, reason: string, now: number): Promise<void> {
    await this.#database.transaction(async (connection) => {
      const { affected } = await connection.execute(
        `UPDATE oauth_outbox_messages SET undelivered_at = ?, reason = ?, prune_after = ?
        WHERE id = ? AND undelivered_at IS NULL`,
        [now, reason, now + KEPT_UNDELIVERED, id],
      );
      if (affected !== 1) return;
      await count(connection, receiverId, SET_ASIDE);
    });
    await this.#removeExcess(receiverId);
  }

  /**
   * Moves undelivered messages back to the queue, where they wait until `expiresAt` at the latest.
   * Returns their number.
   */
  async restore(ids: readonly string[], now: number, expiresAt: number): Promise<number> {
    const found = await this.#find(ids);
    return this.#database.transaction(async (connection) => {
      let restored = 0;
      for (const { id, receiverId } of found) {
        const { affected } = await connection.execute(
          `UPDATE oauth_outbox_messages SET undelivered_at = NULL, expires_at = ?, prune_after = ?
          WHERE id = ? AND undelivered_at IS NOT NULL`,
          [expiresAt, expiresAt + KEPT_UNDELIVERED, id],
        );
        if (affected !== 1) continue;
        restored += 1;
        await count(connection, receiverId, RESTORE, [now]);
      }
      return restored;
    });
  }

  /**
   * Removes at most `limit` messages whose `prune_after` has passed: a week after the message was
   * marked as undelivered, or after it expired. Returns their number.
   */
  async removeOld(now: number, limit: number): Promise<number> {
    const { rows } = await this.#database.execute<{ id: string }>(
      'SELECT id FROM oauth_outbox_messages WHERE prune_after < ? ORDER BY prune_after ' +
        `LIMIT ${limit}`,
      [now],
    );
    return rows.length === 0 ? 0 : this.remove(rows.map(({ id }) => id));
  }

  async counts(): Promise<Readonly<Record<'waiting' | 'undelivered' | 'dropped', number>>> {
    const { rows } = await this.#database.execute<Readonly<Record<string, unknown>>>(
      `SELECT SUM(waiting) AS waiting, SUM(undelivered) AS undelivered, SUM(dropped) AS dropped
      FROM oauth_outbox_receivers`,
    );
    const { waiting, undelivered, dropped } = rows[0] ?? {};
    return {
      waiting: Number(waiting ?? 0),
      undelivered: Number(undelivered ?? 0),
      dropped: Number(dropped ?? 0),
    };
  }

  async #removeExcess(receiverId: string): Promise<void> {
    const { rows } = await this.#database.execute<{ undelivered: number }>(
      'SELECT undelivered FROM oauth_outbox_receivers WHERE id = ?',
      [receiverId],
    );
    const excess = (rows[0]?.undelivered ?? 0) - MOST_UNDELIVERED;
    if (excess <= 0) return;
    const oldest = await this.#database.execute<{ id: string }>(
      `SELECT id FROM oauth_outbox_messages WHERE receiver_id = ? AND undelivered_at IS NOT NULL
      ORDER BY receiver_id, number LIMIT ${excess}`,
      [receiverId],
    );
    await this.remove(oldest.rows.map(({ id }) => id));
  }

  /** Ordered by message id. */
  async #find(ids: readonly string[]): Promise<readonly Place[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.#database.execute<{ id: string; receiver_id: string }>(
      `SELECT id, receiver_id FROM oauth_outbox_messages WHERE id IN (${placeholders(ids)}) ` +
        'ORDER BY id',
      ids,
    );
    return rows.map(({ id, receiver_id: receiverId }) => ({ id, receiverId }));
  }
}

interface Place {
  readonly id: string;
  readonly receiverId: string;
}

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly receiver: string;
  readonly payload: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly undelivered_at: number | null;
}

const COLUMNS = 'id, kind, receiver, attempts, reason, created_at, expires_at, undelivered_at';
/** Sorts after every id. */
const BEHIND_ALL = 'g';
const SET_ASIDE = 'waiting = waiting - 1, undelivered = undelivered + 1';
const RESTORE = `due_at = CASE WHEN holder IS NULL THEN ? ELSE due_at END,
  waiting = waiting + 1, undelivered = undelivered - 1`;

function toOutboxRow(row: Row): OutboxRow {
  const { id, kind, receiver, attempts, reason } = row;
  const { created_at: createdAt, expires_at: expiresAt, undelivered_at: undeliveredAt } = row;
  return { id, kind, receiver, attempts, reason, createdAt, expiresAt, undeliveredAt };
}

/**
 * Removes one message and decreases the counter of its state. An operator may discard a message
 * during its delivery. Only the statement that removes the row changes the counter.
 */
async function removeOne(connection: SqlConnection, { id, receiverId }: Place): Promise<boolean> {
  for (const state of ['waiting', 'undelivered'] as const) {
    const { affected } = await connection.execute(
      `DELETE FROM oauth_outbox_messages WHERE id = ? AND ${STATES[state]}`,
      [id],
    );
    if (affected !== 1) continue;
    await count(connection, receiverId, `${state} = ${state} - 1`);
    return true;
  }
  return false;
}

/** Leaves the counters as they are. Returns false if the message is not waiting. */
export async function removeWaiting(connection: SqlConnection, id: string): Promise<boolean> {
  const statement = `DELETE FROM oauth_outbox_messages WHERE id = ? AND ${STATES.waiting}`;
  return (await connection.execute(statement, [id])).affected === 1;
}

async function count(
  connection: SqlConnection,
  receiverId: string,
  change: string,
  parameters: readonly SqlParameter[] = [],
): Promise<void> {
  const statement = `UPDATE oauth_outbox_receivers SET ${change} WHERE id = ?`;
  await connection.execute(statement, [...parameters, receiverId]);
}

function conditions({ id, receiver, state }: OutboxSelection) {
  const found = [
    ...(id === undefined ? [] : [['id = ?', id] as const]),
    ...(receiver === undefined ? [] : [['receiver = ?', receiver] as const]),
  ];
  return {
    where: [
      '1 = 1',
      ...found.map(([condition]) => condition),
      ...(state === undefined ? [] : [STATES[state]]),
    ].join(' AND '),
    parameters: found.map(([, value]) => value),
  };
}
