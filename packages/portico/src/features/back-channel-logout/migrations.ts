import type { Migration } from '@portico/sql';

/**
 * Creates the tables of this feature:
 *
 * - `oauth_sessions`: the sessions of the host in which users signed in to clients. The `sid` for
 *   each client is derived from `sid_key`. The row of an ended session stays for an hour, so that
 *   requests that are still running cannot use the session.
 * - `oauth_session_people`: when all sessions of a user last ended. This includes sessions without
 *   a row in `oauth_sessions`.
 * - `oauth_session_clients`: the authorizations that began in a session.
 */
const sessions: Migration = {
  name: 'oauth_server_back_channel_logout_0001_sessions',
  async up({ change, types }) {
    const { identifier, time, flag, tableOptions } = types;
    await change(`CREATE TABLE oauth_sessions (
      session_hash ${identifier} NOT NULL PRIMARY KEY,
      sid_key ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      ended_at ${time},
      prune_after ${time} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_sessions_person ON oauth_sessions (user_id)');
    await change('CREATE INDEX oauth_sessions_pruning ON oauth_sessions (prune_after)');
    await change(`CREATE TABLE oauth_session_people (
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      ended_at ${time} NOT NULL,
      ended_by ${identifier} NOT NULL,
      except_hash ${identifier} NOT NULL,
      prune_after ${time} NOT NULL,
      PRIMARY KEY (user_provider, user_id)
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_session_people_pruning ON oauth_session_people (prune_after)');
    await change(`CREATE TABLE oauth_session_clients (
      family_id ${identifier} NOT NULL PRIMARY KEY,
      session_hash ${identifier} NOT NULL,
      client_id ${identifier} NOT NULL,
      subject ${identifier} NOT NULL,
      keeps_access ${flag} NOT NULL,
      created_at ${time} NOT NULL,
      prune_after ${time} NOT NULL
    ) ${tableOptions}`);
    await change(
      'CREATE INDEX oauth_session_clients_session ON oauth_session_clients (session_hash)',
    );
    await change(
      'CREATE INDEX oauth_session_clients_pruning ON oauth_session_clients (prune_after)',
    );
  },
};

export const backChannelLogoutMigrations: readonly Migration[] = [sessions];
