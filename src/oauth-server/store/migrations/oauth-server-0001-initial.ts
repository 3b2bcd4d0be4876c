import type { Migration, SqlDialect } from '../../../host/contracts.ts';

/** How each engine spells the kinds of column that this schema has. Identifiers compare byte by byte everywhere. */
interface ColumnTypes {
  readonly identifier: string;
  readonly text: string;
  /** Milliseconds since 1970, 64 bits. */
  readonly time: string;
  readonly flag: string;
  readonly tableOptions: string;
}

const COLUMN_TYPES: Readonly<Record<SqlDialect, ColumnTypes>> = {
  sqlite: {
    identifier: 'TEXT',
    text: 'TEXT',
    time: 'INTEGER',
    flag: 'INTEGER',
    tableOptions: 'WITHOUT ROWID',
  },
  postgres: {
    identifier: 'TEXT COLLATE "C"',
    text: 'TEXT',
    time: 'BIGINT',
    flag: 'SMALLINT',
    tableOptions: '',
  },
  mysql: {
    identifier: 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    text: 'MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    time: 'BIGINT',
    flag: 'SMALLINT',
    tableOptions: '',
  },
};

/**
 * The tables of the authorization server. No foreign keys: whether a token lives is decided by joining its family and
 * its client at every use, so a row without them is dead, and expired rows may go in any order.
 */
export const initialSchema: Migration = {
  name: 'oauth_server_0001_initial',
  async up(database, connection) {
    for (const statement of statements(COLUMN_TYPES[database.dialect])) await connection.execute(statement);
  },
};

function statements({ identifier, text, time, flag, tableOptions }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE oauth_clients (
      client_id ${identifier} NOT NULL PRIMARY KEY,
      name ${text} NOT NULL,
      redirect_uris ${text} NOT NULL,
      scope ${text} NOT NULL,
      grants ${text} NOT NULL,
      is_public ${flag} NOT NULL,
      secret_hash ${text},
      previous_secret_hash ${text},
      previous_secret_expires_at ${time},
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
      audience ${text},
      user_provider ${identifier},
      user_id ${identifier},
      asked_scope ${text},
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
    `CREATE TABLE oauth_families (
      id ${identifier} NOT NULL PRIMARY KEY,
      client_id ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      subject ${identifier} NOT NULL,
      scope ${text} NOT NULL,
      audience ${text},
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      revoked_at ${time}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_authorization_codes (
      code_hash ${identifier} NOT NULL PRIMARY KEY,
      family_id ${identifier} NOT NULL,
      parameters ${text} NOT NULL,
      expires_at ${time} NOT NULL,
      spent_at ${time}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_refresh_tokens (
      token_hash ${identifier} NOT NULL PRIMARY KEY,
      family_id ${identifier} NOT NULL,
      issued_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      used_at ${time}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_access_tokens (
      token_hash ${identifier} NOT NULL PRIMARY KEY,
      client_id ${identifier} NOT NULL,
      family_id ${identifier},
      scope ${text} NOT NULL,
      audience ${text},
      issued_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
    'CREATE INDEX oauth_consent_requests_expiry ON oauth_consent_requests (expires_at)',
    'CREATE INDEX oauth_families_expiry ON oauth_families (expires_at)',
    'CREATE INDEX oauth_families_person ON oauth_families (user_provider, user_id)',
    'CREATE INDEX oauth_authorization_codes_family ON oauth_authorization_codes (family_id)',
    'CREATE INDEX oauth_refresh_tokens_expiry ON oauth_refresh_tokens (expires_at)',
    'CREATE INDEX oauth_access_tokens_expiry ON oauth_access_tokens (expires_at)',
  ];
}
