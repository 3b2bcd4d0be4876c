import { getDialect, type Migration, type SchemaConnection } from '@portico/sql';
import { BUDGET_ROW, REGISTRATION_TURN } from './locked-rows.ts';

/** The schema has no foreign keys: a row may refer to a row that was removed. */
export const initialSchema: Migration = {
  name: 'oauth_server_0001_initial',
  async up(schema) {
    const room = getDialect(schema).roomForUpdates('oauth_families');
    for (const statement of [...tables(schema), ...indexes(schema), ...room])
      await schema.change(statement);
    await insertLockedRows(schema);
  },
};

function tables(schema: SchemaConnection): readonly string[] {
  return [
    ...clientTables(schema),
    ...personTables(schema),
    ...grantTables(schema),
    ...otherTables(schema),
  ];
}

function clientTables({ types }: SchemaConnection): readonly string[] {
  const { identifier, text, time, flag, tableOptions } = types;
  return [
    // `jwks_uri`, `token_endpoint_auth_method` and `token_endpoint_auth_signing_alg` are null for a
    // client without keys.
    `CREATE TABLE oauth_clients (
      client_id ${identifier} NOT NULL PRIMARY KEY,
      name ${text} NOT NULL,
      redirect_uris ${text} NOT NULL,
      scope ${text} NOT NULL,
      grants ${text} NOT NULL,
      is_public ${flag} NOT NULL,
      secret_hash ${text},
      secret_expires_at ${time},
      previous_secret_hash ${text},
      previous_secret_expires_at ${time},
      id_token_alg ${identifier},
      application_type ${identifier},
      registered_by ${identifier},
      registration_hash ${identifier},
      registered_from ${identifier},
      registered_with_token ${flag},
      document_fresh_until ${time},
      token_endpoint_auth_method ${identifier},
      token_endpoint_auth_signing_alg ${identifier},
      jwks ${text},
      jwks_uri ${identifier},
      dpop_bound_access_tokens ${flag},
      pushes_requests ${flag},
      profile ${identifier},
      client_uri ${text},
      logo_hash ${identifier},
      created_at ${time} NOT NULL,
      used_at ${time},
      revoked_at ${time}
    ) ${tableOptions}`,
    // Images are base64. They are read only for a browser.
    `CREATE TABLE oauth_client_logos (
      client_id ${identifier} NOT NULL PRIMARY KEY,
      hash ${identifier} NOT NULL,
      media_type ${identifier} NOT NULL,
      image ${text} NOT NULL
    ) ${tableOptions}`,
  ];
}

/** Returns the tables that the server needs before a person allows access. */
function personTables({ types }: SchemaConnection): readonly string[] {
  const { identifier, text, time, tableOptions } = types;
  return [
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
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      asked_scope ${text} NOT NULL,
      outcome ${identifier},
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
    `CREATE TABLE oauth_cookie_keys (
      period ${time} NOT NULL PRIMARY KEY,
      key_text ${identifier} NOT NULL
    ) ${tableOptions}`,
    `CREATE TABLE oauth_waiting_requests (
      secret_hash ${identifier} NOT NULL PRIMARY KEY,
      network ${identifier} NOT NULL,
      parameters ${text} NOT NULL,
      byte_count ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
  ];
}

function grantTables({ types }: SchemaConnection): readonly string[] {
  const { identifier, text, time, tableOptions } = types;
  return [
    // One authorization, with its code and its current refresh token. `refresh_answer` is the
    // response to the last refresh, encrypted with the refresh token that was used (decision 37).
    // `used_at` has no index: every refresh writes it.
    `CREATE TABLE oauth_families (
      id ${identifier} NOT NULL PRIMARY KEY,
      client_id ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      subject ${identifier} NOT NULL,
      scope ${text} NOT NULL,
      audience ${text},
      thumbprint ${identifier},
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      prune_after ${time} NOT NULL,
      revoked_at ${time},
      used_at ${time},
      code_hash ${identifier},
      code_parameters ${text},
      code_expires_at ${time},
      code_spent_at ${time},
      refresh_hash ${identifier},
      refresh_mark_hash ${identifier},
      refresh_generation ${time},
      refresh_expires_at ${time},
      refresh_answer ${text},
      refresh_used_at ${time},
      details ${text}
    ) ${tableOptions}`,
    `CREATE TABLE oauth_access_tokens (
      id ${identifier} NOT NULL PRIMARY KEY,
      secret_hash ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      family_id ${identifier},
      scope ${text} NOT NULL,
      audience ${text},
      thumbprint ${identifier},
      issued_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
  ];
}

function otherTables({ types }: SchemaConnection): readonly string[] {
  const { identifier, text, time, tableOptions } = types;
  return [
    `CREATE TABLE oauth_initial_access_tokens (
      id ${identifier} NOT NULL PRIMARY KEY,
      token_hash ${identifier} NOT NULL,
      note ${text} NOT NULL,
      uses ${time} NOT NULL,
      uses_left ${time} NOT NULL,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
    `CREATE TABLE oauth_single_uses (
      hash ${identifier} NOT NULL PRIMARY KEY,
      expires_at ${time} NOT NULL
    ) ${tableOptions}`,
    // Audit events, written only if `oauth_server:audit:keep` is on. The table contains no secrets,
    // tokens or codes, and no hashes of them. Each id starts with the time of its event.
    `CREATE TABLE oauth_audit (
      id ${identifier} NOT NULL PRIMARY KEY,
      happened_at ${time} NOT NULL,
      type ${identifier} NOT NULL,
      client_id ${identifier},
      user_provider ${identifier},
      user_id ${identifier},
      by_provider ${identifier},
      by_id ${identifier},
      address ${identifier},
      request_id ${identifier},
      family_id ${identifier},
      reason ${identifier},
      details ${text} NOT NULL
    ) ${tableOptions}`,
  ];
}

function indexes(schema: SchemaConnection): readonly string[] {
  const dialect = getDialect(schema);
  const person = 'oauth_families (user_provider, user_id';
  return [
    'CREATE INDEX oauth_clients_registered_by ON oauth_clients (registered_by, used_at)',
    'CREATE INDEX oauth_clients_registered_from ON oauth_clients (registered_from, created_at)',
    'CREATE INDEX oauth_consent_requests_expiry ON oauth_consent_requests (expires_at)',
    'CREATE INDEX oauth_waiting_requests_expiry ON oauth_waiting_requests (expires_at)',
    'CREATE INDEX oauth_waiting_requests_share ON oauth_waiting_requests (network, ' +
      'expires_at, byte_count)',
    'CREATE INDEX oauth_families_client ON oauth_families (client_id, id)',
    dialect.indexesEndWithKey
      ? `CREATE INDEX oauth_families_person ON ${person})`
      : `CREATE INDEX oauth_families_person_id ON ${person}, id)`,
    'CREATE INDEX oauth_families_pruning ON oauth_families (prune_after)',
    'CREATE UNIQUE INDEX oauth_initial_access_tokens_hash ON oauth_initial_access_tokens ' +
      '(token_hash)',
    'CREATE INDEX oauth_initial_access_tokens_expiry ON oauth_initial_access_tokens (expires_at)',
    'CREATE INDEX oauth_single_uses_expiry ON oauth_single_uses (expires_at)',
    'CREATE INDEX oauth_audit_client ON oauth_audit (client_id, id)',
    'CREATE INDEX oauth_audit_user ON oauth_audit (user_provider, user_id, id)',
    'CREATE INDEX oauth_audit_type ON oauth_audit (type, id)',
    // Only a few rows name an administrator. Index only these.
    'CREATE INDEX oauth_audit_by ON oauth_audit (by_provider, by_id, ' +
      `id)${dialect.partialIndex('by_id IS NOT NULL')}`,
    'CREATE INDEX oauth_audit_authorization ON oauth_audit (family_id, id)',
  ];
}

/** Removes existing rows first: MySQL may run this migration twice. */
async function insertLockedRows(schema: SchemaConnection): Promise<void> {
  await schema.execute('DELETE FROM oauth_waiting_requests WHERE secret_hash = ?', [BUDGET_ROW]);
  await schema.execute(
    `INSERT INTO oauth_waiting_requests (secret_hash, network, parameters, byte_count, expires_at)
    VALUES (?, '', '', 0, ?)`,
    [BUDGET_ROW, Number.MAX_SAFE_INTEGER],
  );
  await schema.execute('DELETE FROM oauth_initial_access_tokens WHERE id = ?', [REGISTRATION_TURN]);
  await schema.execute(
    `INSERT INTO oauth_initial_access_tokens (id, token_hash, note, uses, uses_left, created_at, expires_at)
    VALUES (?, '', '', 0, 0, 0, ?)`,
    [REGISTRATION_TURN, Number.MAX_SAFE_INTEGER],
  );
}
