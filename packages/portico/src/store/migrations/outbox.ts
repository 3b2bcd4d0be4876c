import type { Migration } from '@portico/sql';

/**
 * The outbox: receivers, and the messages for them.
 *
 * - `due_at` is when the next delivery to a receiver may start. When a process starts a delivery,
 *   it takes a lease: it sets `due_at` to the end of the lease, and `holder` to the lease's name.
 * - `number` orders the messages for one receiver.
 * - `is_troubled` is 1 if the last delivery to the receiver failed or was slow.
 */
const messages: Migration = {
  name: 'oauth_server_outbox_0001_messages',
  async up({ change, types }) {
    const { identifier, text, time, flag, tableOptions } = types;
    await change(`CREATE TABLE oauth_outbox_receivers (
      id ${identifier} NOT NULL PRIMARY KEY,
      kind ${identifier} NOT NULL,
      receiver ${identifier} NOT NULL,
      last_number ${time} NOT NULL,
      waiting ${time} NOT NULL,
      undelivered ${time} NOT NULL,
      dropped ${time} NOT NULL,
      failures ${time} NOT NULL,
      reason ${text},
      is_troubled ${flag} NOT NULL,
      holder ${identifier},
      due_at ${time} NOT NULL,
      used_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change(`CREATE TABLE oauth_outbox_messages (
      id ${identifier} NOT NULL PRIMARY KEY,
      receiver_id ${identifier} NOT NULL,
      kind ${identifier} NOT NULL,
      receiver ${identifier} NOT NULL,
      number ${time} NOT NULL,
      payload ${text} NOT NULL,
      attempts ${time} NOT NULL,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      undelivered_at ${time},
      reason ${text},
      prune_after ${time} NOT NULL
    ) ${tableOptions}`);
    await change(
      'CREATE INDEX oauth_outbox_receivers_due ON oauth_outbox_receivers (is_troubled, due_at)',
    );
    await change('CREATE INDEX oauth_outbox_receivers_used ON oauth_outbox_receivers (used_at)');
    await change(
      'CREATE INDEX oauth_outbox_messages_next ON oauth_outbox_messages (receiver_id, number)',
    );
    await change(
      'CREATE INDEX oauth_outbox_messages_pruning ON oauth_outbox_messages (prune_after)',
    );
  },
};

/** A server uses these migrations only if a feature sends messages. */
export const outboxMigrations: readonly Migration[] = [messages];
