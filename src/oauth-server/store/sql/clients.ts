import type { Database, SqlConnection } from '../../../sql/contract.ts';
import type { Client, Grant, SigningAlgorithm, Store } from '../store.ts';
import { exists, insertInto, words } from './statements.ts';

/** The registered applications: `oauth_clients`. */
export function clientsTable(database: Database) {
  return {
    insertClient: (client) => insertClient(database, client),

    insertClientUnless(client, isThere) {
      return database.transaction(
        async (connection) => {
          await insertClient(connection, { ...client, id: TURN });
          const existing = (await listClients(connection)).find((each) => each.id !== TURN && isThere(each));
          if (existing === undefined) await insertClient(connection, client);
          await connection.execute('DELETE FROM oauth_clients WHERE client_id = ?', [TURN]);
          return existing ?? null;
        },
        async (connection, existing) =>
          existing !== null || exists(connection, 'oauth_clients', 'client_id', client.id),
      );
    },

    async findClient(id) {
      const { rows } = await database.execute<ClientRow>(FIND_CLIENT, [id]);
      // Some collations ignore trailing spaces; a client id is compared byte by byte.
      const row = rows.find((found) => found.client_id === id);
      return row === undefined ? null : toClient(row);
    },

    async rotateSecret(clientId, secretHash, previousExpiresAt) {
      const previous = previousExpiresAt === null ? 'NULL' : 'secret_hash';
      // MySQL assigns from left to right, so the previous secret is kept before the current one is replaced.
      const rotate = (committed?: () => Promise<boolean>) =>
        database.execute(
          `UPDATE oauth_clients SET previous_secret_hash = ${previous}, previous_secret_expires_at = ?, secret_hash = ?
          WHERE client_id = ? AND is_public = 0 AND revoked_at IS NULL AND secret_hash <> ?`,
          [previousExpiresAt, secretHash, clientId, secretHash],
          committed,
        );
      // Nobody has a secret whose rotation was lost: another rotation would end the one that the application has.
      const { affected } = await rotate(async () => {
        await rotate();
        return exists(database, 'oauth_clients', 'secret_hash', secretHash);
      });
      return affected === 1;
    },

    async revokeClient(clientId, now) {
      const { affected } = await database.execute(
        'UPDATE oauth_clients SET revoked_at = ? WHERE client_id = ? AND revoked_at IS NULL',
        [now, clientId],
      );
      if (affected === 1) return true;
      // A restarted primary may show a revocation that none of its standbys has: as for a family, this waits for them.
      if (database.dialect === 'postgres') await database.execute(WRITE_AGAIN, [clientId]);
      return false;
    },

    listClients: () => listClients(database),
  } satisfies Partial<Store>;
}

/** Columns by name, everywhere: a later schema may add some while this process still serves. */
const CLIENT_COLUMNS = `client_id, name, redirect_uris, scope, grants, is_public, secret_hash, previous_secret_hash,
  previous_secret_expires_at, created_at, revoked_at, id_token_alg`;

const INSERT_CLIENT = insertInto('oauth_clients', CLIENT_COLUMNS);

const FIND_CLIENT = `SELECT ${CLIENT_COLUMNS} FROM oauth_clients WHERE client_id = ?`;

const WRITE_AGAIN = 'UPDATE oauth_clients SET revoked_at = revoked_at WHERE client_id = ?';

async function insertClient(connection: SqlConnection, client: Client): Promise<void> {
  await connection.execute(INSERT_CLIENT, [
    client.id,
    client.name,
    JSON.stringify(client.redirectUris),
    client.scopes.join(' '),
    client.grants.join(' '),
    client.public ? 1 : 0,
    client.secretHash,
    client.previousSecretHash,
    client.previousSecretExpiresAt,
    client.createdAt,
    client.revokedAt,
    client.idTokenSignedResponseAlg,
  ]);
}

/**
 * The id of a row that is inserted first and deleted last in a transaction, and so seen by nobody: a second row of this key waits for
 * the end of that transaction, on every engine. It is the claim of a step that decides on all clients, where there is no row to claim.
 */
const TURN = 'one at a time';

async function listClients(connection: SqlConnection): Promise<readonly Client[]> {
  const { rows } = await connection.execute<ClientRow>(
    `SELECT ${CLIENT_COLUMNS} FROM oauth_clients ORDER BY created_at, client_id`,
  );
  return rows.map(toClient);
}

interface ClientRow {
  readonly client_id: string;
  readonly name: string;
  readonly redirect_uris: string;
  readonly scope: string;
  readonly grants: string;
  readonly is_public: number;
  readonly secret_hash: string | null;
  readonly previous_secret_hash: string | null;
  readonly previous_secret_expires_at: number | null;
  readonly created_at: number;
  readonly revoked_at: number | null;
  /** Null for a client of before there was a choice, also one that such a release still registers. */
  readonly id_token_alg: SigningAlgorithm | null;
}

function toClient(row: ClientRow): Client {
  return {
    id: row.client_id,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    scopes: words(row.scope),
    grants: words(row.grants) as Grant[],
    idTokenSignedResponseAlg: row.id_token_alg ?? 'RS256',
    public: row.is_public === 1,
    secretHash: row.secret_hash,
    previousSecretHash: row.previous_secret_hash,
    previousSecretExpiresAt: row.previous_secret_expires_at,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
