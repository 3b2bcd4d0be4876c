import type { Migration } from '../../../sql/schema.ts';

/**
 * What all refresh tokens of a family share, so that one that was used is known without a row of its own. Families of before
 * get it with their next refresh; what they used until then keeps its rows.
 */
export const familyMark: Migration = {
  name: 'oauth_server_0004_family_mark',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_families ADD COLUMN refresh_mark_hash ${types.identifier}`);
  },
};
