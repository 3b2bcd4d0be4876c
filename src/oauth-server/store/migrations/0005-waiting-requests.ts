import type { Migration } from '../../../sql/schema.ts';

/** The key of a row that is no request, and never expires: the budget's lock. */
export const BUDGET_ROW = 'budget';

/**
 * A request that waits for somebody to sign in is no longer a consent request: it is in a cookie, whose keys are kept here, or
 * in a row of its own when it is too long for a cookie. An answered consent request keeps its outcome until it expires.
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
    // Whoever adds a request writes this row first, so that they count one after the other.
    await schema.execute('DELETE FROM oauth_waiting_requests WHERE secret_hash = ?', [BUDGET_ROW]);
    await schema.execute(
      `INSERT INTO oauth_waiting_requests (secret_hash, network, parameters, byte_count, expires_at)
      VALUES (?, '', '', 0, ?)`,
      [BUDGET_ROW, Number.MAX_SAFE_INTEGER],
    );
  },
};
