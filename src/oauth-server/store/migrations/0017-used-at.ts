import type { Migration } from '../../../sql/schema.ts';

/**
 * When tokens were last issued to an authorization. In no index: it is written at every refresh, and PostgreSQL would write every index
 * of the row again. Null for one that was issued none, and for one whose tokens an earlier release issued.
 */
export const usedAt: Migration = {
  name: 'oauth_server_0017_used_at',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_families ADD COLUMN used_at ${types.time}`);
  },
};
