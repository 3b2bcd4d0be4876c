import type { Migration } from '../../../sql/schema.ts';

/**
 * Clients that ask for nothing but by requests that they pushed (RFC 9126 section 6); nothing in the column is a client as before. And an
 * index that has what each network holds of waiting requests: those that are pushed are many.
 */
export const pushedRequests: Migration = {
  name: 'oauth_server_0014_pushed_requests',
  async up({ change, types }) {
    await change(`ALTER TABLE oauth_clients ADD COLUMN pushes_requests ${types.flag}`);
    await change(
      'CREATE INDEX oauth_waiting_requests_share ON oauth_waiting_requests (network, expires_at, byte_count)',
    );
  },
};
