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

/** The maximum number of messages of one kind that can wait for one receiver. */
const MOST_WAITING = 20_000;
/**
 * How long the outbox tries to deliver a message again after an operator has requested a retry, in
 * milliseconds.
 */
const WAITS_AGAIN = 86_400_000;
const LARGEST_PAGE = 1000;
/**
 * The minimum time between two log lines about dropped messages for the same receiver, in
 * milliseconds.
 */
const BETWEEN_LINES = 3_600_000;
const DROPPED =
  'Messages of the kind {kind} for {receiver} are dropped, because 20,000 messages are ' +
  'already waiting';

/**
 * Stores messages to other systems until they are delivered. A message is stored in the same
 * transaction as the change that it reports, so a crash cannot lose the message. Any process of the
 * installation then delivers it, at least once. Each receiver receives its messages of one kind in
 * order, except those that are postponed or that an operator sends again.
 */
export class Outbox {
  /** Whether any feature sends messages. */
  readonly isOn: boolean;
  readonly #around: OutboxSurroundings;
  readonly #receivers: OutboxReceivers;
  readonly #messages: OutboxMessages;
  readonly #deliveries: Deliveries;
  /** When this process last logged that messages were dropped, by kind and receiver. */
  readonly #saidDropped = new RecentMap<string, number>(1000);

  /** Portico calls this constructor. Applications use the server's member `outbox`. */
  constructor(around: OutboxSurroundings) {
    this.isOn = around.isOn;
    this.#around = around;
    this.#receivers = new OutboxReceivers(around.database);
    this.#messages = new OutboxMessages(around.database);
    this.#deliveries = new Deliveries(around, this.#receivers, this.#messages);
  }

  /**
   * Adds messages in your transaction. The outbox sends them only if the transaction commits. Call
   * this method after the first write in the transaction, and call `wake` after the commit.
   *
   * Returns how many messages were dropped because 20,000 messages are already waiting for their
   * receiver. If a message is not valid, throws a RangeError before it writes anything. For any
   * other error, let the transaction fail: do not catch the error inside the transaction.
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
    // Use the same order in every transaction. Otherwise, two transactions could wait for each
    // other.
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

  /** Logs that messages were dropped, at most once an hour per receiver. */
  #sayDropped(kind: string, receiver: string, now: number): void {
    const key = JSON.stringify([kind, receiver]);
    if (now - (this.#saidDropped.get(key) ?? -Infinity) < BETWEEN_LINES) return;
    this.#saidDropped.put(key, now);
    this.#around.log.warning(DROPPED, { kind, receiver });
  }

  /**
   * Starts delivering messages in this process. A process that handles requests starts
   * automatically at its first request. Call `start` only to begin earlier, or in a process that
   * only delivers messages.
   */
  start(): void {
    if (this.isOn) this.#deliveries.start();
  }

  /**
   * Delivers new messages immediately instead of at the next search. Does nothing if this process
   * does not deliver messages. Other processes then find the messages at their next search.
   */
  wake(): void {
    if (this.isOn) this.#deliveries.wake();
  }

  /**
   * Stops delivering messages in this process, until the process ends. Resolves when all running
   * deliveries have ended.
   */
  stop(): Promise<void> {
    return this.#deliveries.stop();
  }

  /**
   * Lists messages, newest first. `after` is the id of the last message on the previous page.
   * `limit` must be from 1 to 1000 and defaults to 50.
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
   * Tries to deliver the selected messages again immediately. The outbox keeps trying undelivered
   * messages for one day. With `id`, does nothing for a message that is
   * still being tried. Returns how many of the selected messages were undelivered.
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

  /**
   * Removes the selected messages without delivering them. Returns how many messages it removed.
   */
  async discard(selected: OutboxFilter & { readonly id?: string }): Promise<number> {
    if (!this.isOn) return 0;
    const removed = await this.#each(selected, (ids) => this.#messages.remove(ids));
    if (selected.id === undefined) await this.#receivers.forgetDropped(selected.receiver ?? null);
    return removed;
  }

  /** Counts messages by state. Returns null if no feature sends messages. */
  async counts(): Promise<OutboxCounts | null> {
    return this.isOn ? this.#messages.counts() : null;
  }

  /**
   * Returns the receivers for whom messages were dropped because 20,000 messages were already
   * waiting. Leaves out receivers whose messages an operator has discarded since then. Returns at
   * most 50 receivers, starting with those with the most dropped messages.
   */
  async dropped(): Promise<readonly DroppedMessages[]> {
    return this.isOn ? this.#receivers.dropped() : [];
  }

  /**
   * Removes at most `limit` old undelivered messages, and also receivers that have no messages and
   * got their last one more than a month ago. Returns how many messages it removed.
   */
  async removeOld(limit: number): Promise<number> {
    const now = this.#around.clock();
    const removed = await this.#messages.removeOld(now, limit);
    await this.#receivers.removeIdle(now, limit);
    return removed;
  }

  /**
   * Calls `work` with the ids of the selected messages, one batch after another, newest messages
   * first.
   */
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
