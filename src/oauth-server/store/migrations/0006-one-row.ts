import type { Migration } from '../../../sql/schema.ts';

/**
 * A family's row keeps its code and its refresh token itself, and an access token has an id beside the hash of its secret: for
 * those of before it is that hash. Columns that every statement of the release before names are called otherwise from here on,
 * so that a process of it which still runs can spend nothing that this one does not know of.
 */
export const oneRow: Migration = {
  name: 'oauth_server_0006_one_row',
  async up(schema) {
    const { change, dialect, types } = schema;
    const { identifier, text, time } = types;
    // All at once and in the order in which requests take them, so that none of those waits for this step and this step for it.
    // In a block, since who prints this step may run it outside of a transaction, where LOCK TABLE by itself is an error.
    if (dialect === 'postgres')
      await schema.execute(`DO $$ BEGIN LOCK TABLE ${TABLES} IN ACCESS EXCLUSIVE MODE; END $$`);
    await change('ALTER TABLE oauth_access_tokens RENAME COLUMN token_hash TO id');
    await change('ALTER TABLE oauth_authorization_codes RENAME COLUMN code_hash TO grant_hash');
    await change('ALTER TABLE oauth_refresh_tokens RENAME COLUMN token_hash TO grant_hash');
    await change(`ALTER TABLE oauth_access_tokens ADD COLUMN secret_hash ${identifier}`);
    for (const [column, type] of Object.entries({
      code_hash: identifier,
      code_parameters: text,
      code_expires_at: time,
      code_spent_at: time,
      refresh_hash: identifier,
      refresh_generation: time,
      refresh_expires_at: time,
      prune_after: time,
    })) {
      await change(`ALTER TABLE oauth_families ADD COLUMN ${column} ${type}`);
    }
    await schema.execute(FILL);
  },
};

const TABLES =
  'oauth_families, oauth_authorization_codes, oauth_refresh_tokens, oauth_access_tokens, oauth_clients';

const CODE = 'FROM oauth_authorization_codes c WHERE c.family_id = oauth_families.id LIMIT 1';
const CURRENT = `FROM oauth_refresh_tokens t WHERE t.family_id = oauth_families.id AND t.used_at IS NULL
  ORDER BY t.issued_at DESC, t.grant_hash LIMIT 1`;

/** Run twice, it changes no row that was filled before and may be in use. A row is filled by one statement, or not at all. */
const FILL = `
  UPDATE oauth_families SET
    code_hash = (SELECT c.grant_hash ${CODE}),
    code_parameters = (SELECT CASE WHEN c.spent_at IS NULL THEN c.parameters END ${CODE}),
    code_expires_at = (SELECT c.expires_at ${CODE}),
    code_spent_at = (SELECT c.spent_at ${CODE}),
    refresh_hash = (SELECT t.grant_hash ${CURRENT}),
    refresh_expires_at = (SELECT t.expires_at ${CURRENT}),
    refresh_generation =
      (SELECT MIN(1) FROM oauth_refresh_tokens t WHERE t.family_id = oauth_families.id),
    prune_after = expires_at
  WHERE prune_after IS NULL`;
