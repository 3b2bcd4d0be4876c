import type { Migration } from '../../../sql/schema.ts';

/** What a client's ID tokens are signed with; null is RS256, as for every client of before. */
export const idTokenAlg: Migration = {
  name: 'oauth_server_0008_id_token_alg',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_clients ADD COLUMN id_token_alg ${types.identifier}`);
  },
};
