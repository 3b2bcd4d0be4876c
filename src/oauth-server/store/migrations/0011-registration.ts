import type { Migration } from '../../../sql/schema.ts';

/** The id of a row that is no token: the lock of registrations. */
export const REGISTRATION_TURN = 'one at a time';

/** What clients register themselves with, and the index by which the registrations of a network are counted. */
export const registration: Migration = {
  name: 'oauth_server_0011_registration',
  async up(schema) {
    const { change, types } = schema;
    const { identifier, text, time, tableOptions } = types;
    await change('CREATE INDEX oauth_clients_registered_from ON oauth_clients (registered_from, created_at)');
    await change(`CREATE TABLE oauth_initial_access_tokens (
      id ${identifier} NOT NULL PRIMARY KEY,
      token_hash ${identifier} NOT NULL,
      note ${text} NOT NULL,
      uses ${time} NOT NULL,
      uses_left ${time} NOT NULL,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change(
      'CREATE UNIQUE INDEX oauth_initial_access_tokens_hash ON oauth_initial_access_tokens (token_hash)',
    );
    await change(
      'CREATE INDEX oauth_initial_access_tokens_expiry ON oauth_initial_access_tokens (expires_at)',
    );
    // Whoever registers writes this row first, so that they count one after the other. No token has its hash.
    await schema.execute('DELETE FROM oauth_initial_access_tokens WHERE id = ?', [REGISTRATION_TURN]);
    await schema.execute(
      `INSERT INTO oauth_initial_access_tokens (id, token_hash, note, uses, uses_left, created_at, expires_at)
      VALUES (?, '', '', 0, 0, 0, ?)`,
      [REGISTRATION_TURN, Number.MAX_SAFE_INTEGER],
    );
  },
};
