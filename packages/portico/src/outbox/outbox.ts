import { OutOfRangeError, type SqlConnection } from '@portico/sql';
import { KEPT_UNDELIVERED, OutboxMessages, type OutboxRow } from '../store/sql/outbox-messages.ts';
import { RecentMap } from '../http/recent-map.ts';
import { OutboxReceivers, type DroppedMessages } from '../store/sql/outbox-receivers.ts';
import { Deliveries } from './deliveries.ts';
import type { OutboxSurroundings } from './surroundings.ts';
import {
  messageProblem,
  type ListedMessage,
  type NewMessage,
  type OutboxCounts,
  type OutboxFilter,
} from './message.ts';

/** How many messages of one kind may wait for one receiver. */
const MOST_WAITING = 20_000;
/** How long a message waits after an operator asked for another attempt, in milliseconds. */
const WAITS_AGAIN = 86_400_000;
const LARGEST_PAGE = 1000;
/** Milliseconds between two log lines about a receiver that gets no more messages. */
const BETWEEN_LINES = 3_600_000;
const DROPPED =
  '{receiver} gets no more messages of the kind {kind}, because 20,000 wait: they are dropped';

/**
 * Messages to other systems that must not be lost. A message is written in the same transaction as
 * the change that it is about. It is then delivered at least once, and in order for each receiver,
 * by any process of the installation.
 */
export class Outbox {
  /** Whether a feature sends messages. */
  readonly isOn: boolean;
  readonly #around: OutboxSurroundings;
  readonly #receivers: OutboxReceivers;
  readonly #messages: OutboxMessages;
  readonly #deliveries: Deliveries;
  /** When this process has last logged that a receiver gets no more messages. */
  readonly #saidDropped = new RecentMap<string, number>(1000);

  /** Use the server's `outbox`. */
  constructor(around: OutboxSurroundings) {
    this.isOn = around.isOn;
    this.#around = around;
    this.#receivers = new OutboxReceivers(around.database);
    this.#messages = new OutboxMessages(around.database);
    this.#deliveries = new Deliveries(around, this.#receivers, this.#messages);
  }

  /**
   * Adds messages in your transaction. They are sent if it commits, and only then. Call it after
   * the write that claims the row, and call `wake` after the commit. Returns how many messages were
   * dropped, because their receiver already has 20,000 that wait. Throws a RangeError for a message
   * that is not valid, before it writes anything. After any other error, let your transaction fail:
   * do not catch the error in it.
   *
   * @example
   * await database.transaction(async (connection) => {
   *   await connection.execute('DELETE FROM sessions WHERE id = ?', [id]);
   *   await outbox.add(connection, [{ kind: 'logout', receiver, payload, expiresAt }]);
   * });
   * outbox.wake();
   */
  async add(connection: SqlConnection, messages: readonly NewMessage[]): Promise<number> {
    const now = this.#around.clock();
    for (const message of messages) {
      const problem = messageProblem(message, this.#around.deliveries());
      if (problem !== null) throw new OutOfRangeError(problem);
    }
    let dropped = 0;
    // In the same order everywhere, so that two transactions do not wait for each other.
    const ordered = messages.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
    for (const { kind, receiver, payload, expiresAt } of ordered) {
      const pruneAfter = expiresAt + KEPT_UNDELIVERED;
      const row = { kind, receiver, payload, expiresAt, pruneAfter };
      if (await this.#receivers.add(connection, row, MOST_WAITING, now)) continue;
      dropped += 1;
      this.#sayDropped(kind, receiver, now);
    }
    return dropped;
  }

  /** Logs once an hour for each receiver that it gets no more messages. */
  #sayDropped(kind: string, receiver: string, now: number): void {
    const key = JSON.stringify([kind, receiver]);
    if (now - (this.#saidDropped.get(key) ?? -Infinity) < BETWEEN_LINES) return;
    this.#saidDropped.put(key, now);
    this.#around.log.warning(DROPPED, { kind, receiver });
  }

  /**
   * Begins to deliver in this process. A process that answers requests does so by itself. Call it
   * in a process that only delivers, or to deliver before the first request.
   */
  start(): void {
    if (this.isOn) this.#deliveries.start();
  }

  /**
   * Delivers what was just added, without waiting for the next look at the store. Does nothing in a
   * process that does not deliver: another one finds it.
   */
  wake(): void {
    if (this.isOn) this.#deliveries.wake();
  }

  /** Ends deliveries in this process. Resolves when those that run have ended. */
  stop(): Promise<void> {
    return this.#deliveries.stop();
  }

  /**
   * Lists messages, newest first. `after` is the id of the last message of the previous page.
   * `limit` is 1 to 1000, and 50 by default.
   */
  async list(
    filter: OutboxFilter = {},
    { after, limit = 50 }: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly ListedMessage[]> {
    if (!this.isOn) return [];
    if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= LARGEST_PAGE))
      throw new OutOfRangeError(`limit must be a whole number from 1 to ${LARGEST_PAGE}`);
    return (await this.#messages.list(filter, after ?? null, limit)).map(toListed);
  }

  /**
   * Tries the selected messages again now, and lets undelivered ones wait for a day. Returns how
   * many undelivered messages wait again.
   */
  async retry(selected: { readonly id?: string; readonly receiver?: string }): Promise<number> {
    if (!this.isOn) return 0;
    const now = this.#around.clock();
    const isOne = selected.id !== undefined;
    const restored = await this.#each({ ...selected, state: 'undelivered' }, (ids) =>
      this.#messages.restore(ids, now, now + WAITS_AGAIN),
    );
    if (!isOne) await this.#receivers.hurry(selected.receiver ?? null, now);
    this.wake();
    return restored;
  }

  /** Removes the selected messages without delivering them. Returns how many there were. */
  async discard(selected: OutboxFilter & { readonly id?: string }): Promise<number> {
    if (!this.isOn) return 0;
    const removed = await this.#each(selected, (ids) => this.#messages.remove(ids));
    if (selected.id === undefined) await this.#receivers.forgetDropped(selected.receiver ?? null);
    return removed;
  }

  /** Counts the messages. Null if no feature sends messages. */
  async counts(): Promise<OutboxCounts | null> {
    return this.isOn ? this.#messages.counts() : null;
  }

  /**
   * Returns the receivers for whom messages were dropped in the last month, because they already
   * had 20,000 that waited: at most 50, those with the most first.
   */
  async dropped(): Promise<readonly DroppedMessages[]> {
    return this.isOn ? this.#receivers.dropped() : [];
  }

  /** Removes at most `limit` messages that were kept for operators, and receivers without any. */
  async removeOld(limit: number): Promise<number> {
    const now = this.#around.clock();
    const removed = await this.#messages.removeOld(now, limit);
    await this.#receivers.removeIdle(now, limit);
    return removed;
  }

  /** Works through the selected messages, newest first, in batches. */
  async #each(
    selection: OutboxFilter & { readonly id?: string },
    work: (ids: readonly string[]) => Promise<number>,
  ): Promise<number> {
    let done = 0;
    for (let before: string | null = null; ;) {
      const rows: readonly OutboxRow[] = await this.#messages.list(selection, before, BATCH);
      done += rows.length === 0 ? 0 : await work(rows.map(({ id }) => id));
      before = rows.at(-1)?.id ?? null;
      if (rows.length < BATCH) return done;
    }
  }
}

const BATCH = 100;

function place({ kind, receiver }: NewMessage): string {
  return JSON.stringify([kind, receiver]);
}

function toListed({ undeliveredAt, ...row }: OutboxRow): ListedMessage {
  return { ...row, state: undeliveredAt === null ? 'waiting' : 'undelivered' };
}
