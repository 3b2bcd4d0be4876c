import type { Migration } from '../../../sql/schema.ts';

/** Columns that the family's row has now; codes and tokens need not repeat them. */
const MOVED = {
  oauth_authorization_codes: ['client_id', 'user_provider', 'user_id', 'scope'],
  oauth_refresh_tokens: ['client_id', 'user_provider', 'user_id', 'scope', 'revoked_at'],
  oauth_access_tokens: ['user_provider', 'user_id', 'revoked_at'],
} as const;

/** Not part of the step before, which could not be run again once a column is gone. */
export const factsInOnePlace: Migration = {
  name: 'oauth_server_0003_facts_in_one_place',
  async up({ change, dialect }) {
    // Refresh tokens go with their family now, not by an expiry of their own.
    const on = dialect === 'mysql' ? ' ON oauth_refresh_tokens' : '';
    await change('CREATE INDEX oauth_refresh_tokens_family ON oauth_refresh_tokens (family_id)');
    await change(`DROP INDEX oauth_refresh_tokens_expiry${on}`);
    for (const [table, columns] of Object.entries(MOVED)) {
      for (const column of columns) await change(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    }
  },
};
