import type { Migration } from '@portico/sql';

/**
 * This feature adds these tables:
 *
 * - `oauth_linked_subjects` maps a subject of an issuer to an account.
 * - `oauth_given_access` contains the clients to which organizations gave access to an account.
 *   `ended_at` is when the user or an operator ended the access, or null. `allowed_at` is when an
 *   operator allowed the access again, or 0.
 * - `oauth_given_access_ended` contains the users for whom all clients' access was ended.
 */
const access: Migration = {
  name: 'oauth_server_jwt_bearer_0001_access',
  async up({ change, types }) {
    const { identifier, time, tableOptions } = types;
    await change(`CREATE TABLE oauth_linked_subjects (
      link_hash ${identifier} NOT NULL PRIMARY KEY,
      issuer ${identifier} NOT NULL,
      tenant ${identifier},
      subject ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      created_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_linked_subjects_person ON oauth_linked_subjects (user_id)');
    await change(`CREATE TABLE oauth_given_access (
      pair_hash ${identifier} NOT NULL PRIMARY KEY,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      used_at ${time} NOT NULL,
      allowed_at ${time} NOT NULL,
      ended_at ${time}
    ) ${tableOptions}`);
    await change(`CREATE TABLE oauth_given_access_ended (
      person_hash ${identifier} NOT NULL PRIMARY KEY,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      ended_at ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_given_access_person ON oauth_given_access (user_id)');
    await change('CREATE INDEX oauth_given_access_use ON oauth_given_access (used_at)');
  },
};

export const jwtBearerMigrations: readonly Migration[] = [access];
