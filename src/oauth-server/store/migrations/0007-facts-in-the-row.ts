import type { Migration } from '../../../sql/schema.ts';

/** What a family's row says now. What is left says which family a code or refresh token of before belongs to. */
const MOVED = {
  oauth_authorization_codes: ['parameters', 'expires_at', 'spent_at'],
  oauth_refresh_tokens: ['issued_at', 'expires_at', 'used_at'],
} as const;

/**
 * Not part of the step before, which could not be run again once a column is gone. Families are removed by `prune_after`, and
 * access tokens in the order of their ids, so two indexes go that were written at every refresh.
 */
export const factsInTheRow: Migration = {
  name: 'oauth_server_0007_facts_in_the_row',
  async up({ change, dialect }) {
    const on = (table: string) => (dialect === 'mysql' ? ` ON ${table}` : '');
    await change('CREATE INDEX oauth_families_pruning ON oauth_families (prune_after)');
    await change(`DROP INDEX oauth_families_expiry${on('oauth_families')}`);
    await change(`DROP INDEX oauth_access_tokens_expiry${on('oauth_access_tokens')}`);
    for (const [table, columns] of Object.entries(MOVED)) {
      for (const column of columns) await change(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    }
    // Room on each page for the next version of a row: then no index is written with it.
    if (dialect === 'postgres') await change('ALTER TABLE oauth_families SET (fillfactor = 80)');
  },
};
