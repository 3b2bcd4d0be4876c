import type { Migration, SchemaConnection } from '../../../sql/schema.ts';

/**
 * The schema of the first release: every code and token carries the facts of its authorization, and a family is a value
 * that they share. No foreign keys: an expired row may outlive the row that it refers to.
 */
export const initialSchema: Migration = {
  name: 'oauth_server_0001_initial',
  async up(schema) {
    for (const statement of statements(schema)) await schema.change(statement);
  },
};

function statements({ types }: SchemaConnection): readonly string[] {
  const { identifier, text, time, flag, tableOptions } = types;
  return [
    `CREATE TABLE oauth_clients (
      client_id ${identifier} NOT NULL PRIMARY KEY,
      name ${text} NOT NULL,
      redirect_uris ${text} NOT NULL,
      scope ${text} NOT NULL,
      grants ${text} NOT NULL,
      is_public ${flag} NOT NULL,
      secret_hash ${text},
      created_at ${time} NOT NULL,
      revoked_at ${time}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_subjects (
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      subject ${identifier} NOT NULL UNIQUE,
      PRIMARY KEY (user_provider, user_id)
    ) ${tableOptions}`,
    `CREATE TABLE oauth_consent_requests (
      id_hash ${identifier} NOT NULL PRIMARY KEY,
      browser_hash ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      parameters ${text} NOT NULL,
      user_provider ${identifier},
      user_id ${identifier},
      asked_scope ${text},
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
    `CREATE TABLE oauth_authorization_codes (
      code_hash ${identifier} NOT NULL PRIMARY KEY,
      family_id ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      scope ${text} NOT NULL,
      parameters ${text} NOT NULL,
      expires_at ${time} NOT NULL,
      spent_at ${time}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_refresh_tokens (
      token_hash ${identifier} NOT NULL PRIMARY KEY,
      family_id ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      scope ${text} NOT NULL,
      issued_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      used_at ${time},
      revoked_at ${time}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_access_tokens (
      token_hash ${identifier} NOT NULL PRIMARY KEY,
      family_id ${identifier},
      client_id ${identifier} NOT NULL,
      user_provider ${identifier},
      user_id ${identifier},
      scope ${text} NOT NULL,
      issued_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      revoked_at ${time}
    ) ${tableOptions}`,
    'CREATE INDEX oauth_consent_requests_expiry ON oauth_consent_requests (expires_at)',
    'CREATE INDEX oauth_authorization_codes_family ON oauth_authorization_codes (family_id)',
    'CREATE INDEX oauth_refresh_tokens_expiry ON oauth_refresh_tokens (expires_at)',
    'CREATE INDEX oauth_access_tokens_expiry ON oauth_access_tokens (expires_at)',
  ];
}
