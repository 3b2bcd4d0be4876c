import type { Migration } from '../../../sql/schema.ts';

/** Clients that authenticate by assertions (RFC 7523), and what is good once and was used. Nothing in a new column is a client as before. */
export const clientKeys: Migration = {
  name: 'oauth_server_0012_client_keys',
  async up({ change, types }) {
    const { identifier, text, time, tableOptions } = types;
    for (const [column, type] of Object.entries({
      token_endpoint_auth_method: identifier,
      token_endpoint_auth_signing_alg: identifier,
      jwks: text,
      jwks_uri: identifier,
    })) {
      await change(`ALTER TABLE oauth_clients ADD COLUMN ${column} ${type}`);
    }
    await change(`CREATE TABLE oauth_single_uses (
      hash ${identifier} NOT NULL PRIMARY KEY,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_single_uses_expiry ON oauth_single_uses (expires_at)');
  },
};
