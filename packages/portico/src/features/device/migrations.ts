import type { Migration } from '@portico/sql';

/**
 * Creates the table of device requests. Some of its columns are:
 *
 * - `address`: the IP address that the request came from.
 * - `poll_after` and `poll_interval`: times in milliseconds.
 * - `family_id` and `grant_hash`: the authorization and its code. They are set when the user allows
 *   the request.
 */
const codes: Migration = {
  name: 'oauth_server_device_0001_codes',
  async up({ change, types }) {
    const { identifier, text, time, tableOptions } = types;
    await change(`CREATE TABLE oauth_device_codes (
      device_hash ${identifier} NOT NULL PRIMARY KEY,
      user_hash ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      scope ${text} NOT NULL,
      audience ${text},
      address ${identifier},
      network ${identifier} NOT NULL,
      begun_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      poll_after ${time} NOT NULL,
      poll_interval ${time} NOT NULL,
      outcome ${identifier},
      family_id ${identifier},
      grant_hash ${identifier}
    ) ${tableOptions}`);
    await change('CREATE UNIQUE INDEX oauth_device_codes_user ON oauth_device_codes (user_hash)');
    await change('CREATE INDEX oauth_device_codes_expiry ON oauth_device_codes (expires_at)');
    await change(
      'CREATE INDEX oauth_device_codes_network ON oauth_device_codes (network, expires_at)',
    );
  },
};

export const deviceMigrations: readonly Migration[] = [codes];
