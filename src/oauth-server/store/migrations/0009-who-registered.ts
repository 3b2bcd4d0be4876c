import type { Migration } from '../../../sql/schema.ts';

/** Clients that no operator registered. Nothing in a new column is a web application that an operator registered. */
export const whoRegistered: Migration = {
  name: 'oauth_server_0009_who_registered',
  async up({ change, types }) {
    const { identifier, time } = types;
    for (const [column, type] of Object.entries({
      application_type: identifier,
      registered_by: identifier,
      registration_hash: identifier,
      registered_from: identifier,
      used_at: time,
      document_fresh_until: time,
    })) {
      await change(`ALTER TABLE oauth_clients ADD COLUMN ${column} ${type}`);
    }
    await change('CREATE INDEX oauth_clients_registered_by ON oauth_clients (registered_by, used_at)');
  },
};
