import type { Migration } from '../../../sql/schema.ts';

/**
 * By which the authorizations of a client, and of a person, are found newest first. On PostgreSQL, where an index is not made while rows
 * are written, it may have been made before (`CREATE INDEX CONCURRENTLY`). SQLite and MySQL end each entry with the row's key as it is.
 */
export const lists: Migration = {
  name: 'oauth_server_0018_lists',
  async up({ change, dialect }) {
    const unlessThere = dialect === 'postgres' ? 'IF NOT EXISTS ' : '';
    await change(`CREATE INDEX ${unlessThere}oauth_families_client ON oauth_families (client_id, id)`);
    if (dialect !== 'postgres') return;
    await change(
      `CREATE INDEX ${unlessThere}oauth_families_person_id ON oauth_families (user_provider, user_id, id)`,
    );
    await change('DROP INDEX oauth_families_person');
  },
};
