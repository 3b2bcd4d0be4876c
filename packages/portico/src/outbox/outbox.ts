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

/** The maximum number of waiting messages of one kind for one receiver. */
const MOST_WAITING = 20_000;
/** How long the outbox tries again after an operator has requested a retry, in milliseconds. */
const WAITS_AGAIN = 86_400_000;
const LARGEST_PAGE = 1000;
/**
 * The minimum time between two log lines about dropped messages for one receiver, in milliseconds.
 */
const BETWEEN_LINES = 3_600_000;
const DROPPED =
  'Messages of the kind {kind} for {receiver} are dropped, because 20,000 messages are ' +
  'already waiting';

/**
 * Stores messages to other systems until they are delivered. The transaction of a change also
 * stores its message, so a crash cannot lose it. Any process of the installation delivers it, at
 * least once.
 *
 * Each receiver receives its messages of one kind in order. Exceptions: messages that are postponed
 * or that an operator sends again.
 */
export class Outbox {
  /** True if any feature sends messages. */
  readonly isOn: boolean;
  readonly #around: OutboxSurroundings;
  readonly #receivers: OutboxReceivers;
  readonly #messages: OutboxMessages;
  readonly #deliveries: Deliveries;
  /** When this process last logged dropped messages, by kind and receiver. */
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
   * Adds messages in your transaction. They are sent only if it commits. Call this method after the
   * first write of the transaction, and `wake` after the commit.
   *
   * Returns how many messages were dropped because 20,000 are already waiting for their receiver.
   * Throws a RangeError for an invalid message, before it writes anything. Do not catch any other
   * error inside the transaction: let the transaction fail.
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
    // All transactions use the same order. Otherwise, two of them could wait for each other.
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

  /** At most once an hour per receiver. */
  #sayDropped(kind: string, receiver: string, now: number): void {
    const key = JSON.stringify([kind, receiver]);
    if (now - (this.#saidDropped.get(key) ?? -Infinity) < BETWEEN_LINES) return;
    this.#saidDropped.put(key, now);
    this.#around.log.warning(DROPPED, { kind, receiver });
  }

  /**
   * Starts delivering in this process. A process that handles requests starts at its first request.
   * Call `start` to begin earlier, or in a process that only delivers messages.
   */
  start(): void {
    if (this.isOn) this.#deliveries.start();
  }

  /**
   * Delivers new messages now instead of at the next search. Does nothing in a process that does
   * not deliver. Other processes then find the messages at their next search.
   */
  wake(): void {
    this.#deliveries.wake();
  }

  /**
   * Stops delivering in this process, until the process ends. Resolves when all running deliveries
   * have ended.
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
   * Tries to deliver the selected messages again immediately. Undelivered messages are tried for
   * one day. With `id`, does nothing for a message that is still being tried. Returns how many of
   * the messages were undelivered.
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

  /** Removes the selected messages without delivering them. Returns their number. */
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
   * Returns the receivers with messages that were dropped because 20,000 were waiting, most dropped
   * first, at most 50. Omits receivers whose messages an operator has discarded since then.
   */
  async dropped(): Promise<readonly DroppedMessages[]> {
    return this.isOn ? this.#receivers.dropped() : [];
  }

  /**
   * Removes at most `limit` old undelivered messages and returns their number. Also removes
   * receivers without messages that got their last one more than a month ago.
   */
  async removeOld(limit: number): Promise<number> {
    const now = this.#around.clock();
    const removed = await this.#messages.removeOld(now, limit);
    await this.#receivers.removeIdle(now, limit);
    return removed;
  }

  /** Calls `work` with the ids of the selected messages in batches, newest first. */
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
