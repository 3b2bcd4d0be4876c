import type { Migration } from '../../../sql/schema.ts';

/**
 * The key that an access token, and what comes of an authorization, is bound to (RFC 9449): its thumbprint; null is bound to none, as
 * everything of before. And which clients demand that theirs are.
 */
export const dpop: Migration = {
  name: 'oauth_server_0013_dpop',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_access_tokens ADD COLUMN thumbprint ${types.identifier}`);
    await change(`ALTER TABLE oauth_families ADD COLUMN thumbprint ${types.identifier}`);
    await change(`ALTER TABLE oauth_clients ADD COLUMN dpop_bound_access_tokens ${types.flag}`);
  },
};
