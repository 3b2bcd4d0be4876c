import type { Migration } from '../../../sql/schema.ts';

/** Stands beside the requests, and never expires. */
export const BUDGET_ROW = 'budget';

/**
 * What waits for somebody to sign in is no longer a consent request: a cookie holds it, whose keys are kept here, or, when it
 * is too long for one, a row of its own. A consent request that was answered keeps what came of it until it expires.
 */
export const waitingRequests: Migration = {
  name: 'oauth_server_0005_waiting_requests',
  async up(schema) {
    const { types, change } = schema;
    const { identifier, text, time, tableOptions } = types;
    await change(`ALTER TABLE oauth_consent_requests ADD COLUMN outcome ${identifier}`);
    await change(`CREATE TABLE oauth_cookie_keys (
      period ${time} NOT NULL PRIMARY KEY,
      key_text ${identifier} NOT NULL
    ) ${tableOptions}`);
    await change(`CREATE TABLE oauth_waiting_requests (
      secret_hash ${identifier} NOT NULL PRIMARY KEY,
      network ${identifier} NOT NULL,
      parameters ${text} NOT NULL,
      byte_count ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_waiting_requests_expiry ON oauth_waiting_requests (expires_at)');
    await change('CREATE INDEX oauth_waiting_requests_network ON oauth_waiting_requests (network)');
    // The row that whoever adds one writes first, so that they count one after the other.
    await schema.execute('DELETE FROM oauth_waiting_requests WHERE secret_hash = ?', [BUDGET_ROW]);
    await schema.execute(
      `INSERT INTO oauth_waiting_requests (secret_hash, network, parameters, byte_count, expires_at)
      VALUES (?, '', '', 0, ?)`,
      [BUDGET_ROW, Number.MAX_SAFE_INTEGER],
    );
  },
};
