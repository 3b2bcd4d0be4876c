import type { Migration } from '../../../sql/schema.ts';

/** The site of a client and the logo that an operator gave it, with the picture itself: in base64, read only to be shown. */
export const clientLogos: Migration = {
  name: 'oauth_server_0019_client_logos',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_clients ADD COLUMN client_uri ${types.text}`);
    await change(`ALTER TABLE oauth_clients ADD COLUMN logo_hash ${types.identifier}`);
    await change(`CREATE TABLE oauth_client_logos (
      client_id ${types.identifier} NOT NULL PRIMARY KEY,
      hash ${types.identifier} NOT NULL,
      media_type ${types.identifier} NOT NULL,
      image ${types.text} NOT NULL
    ) ${types.tableOptions}`);
  },
};
