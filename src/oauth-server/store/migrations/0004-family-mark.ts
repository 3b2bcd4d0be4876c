import type { Migration } from '../../../sql/schema.ts';

/**
 * The mark that all refresh tokens of a family share, so that a used one is known without a row of its own. Existing families
 * get it with their next refresh; tokens that were used before keep their rows.
 */
export const familyMark: Migration = {
  name: 'oauth_server_0004_family_mark',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_families ADD COLUMN refresh_mark_hash ${types.identifier}`);
  },
};
