import type { Migration } from '../../../sql/schema.ts';

/**
 * The answer that the last use of a family's refresh token was given, sealed with that token (decision 37), and when that was. Nothing
 * is kept of uses before, nor where `oauth_server:refresh_retry_seconds` is 0.
 */
export const keptAnswer: Migration = {
  name: 'oauth_server_0010_kept_answer',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_families ADD COLUMN refresh_answer ${types.text}`);
    await change(`ALTER TABLE oauth_families ADD COLUMN refresh_used_at ${types.time}`);
  },
};
