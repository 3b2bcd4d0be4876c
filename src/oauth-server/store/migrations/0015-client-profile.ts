import type { Migration } from '../../../sql/schema.ts';

/** The profile that a client is held to. Nothing in the column is a client as before. */
export const clientProfile: Migration = {
  name: 'oauth_server_0015_client_profile',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_clients ADD COLUMN profile ${types.identifier}`);
  },
};
