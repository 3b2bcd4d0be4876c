import {
  findClient,
  insertAll,
  insertClient,
  INSERT_CLIENT,
  insertWhole,
  inTurn,
  isThisClient,
  listClients,
  TURN,
  type WithClient,
} from './client-statements.ts';
import {
  type Database,
  getDialect,
  insertIfNone,
  type SqlConnection,
  type SqlParameter,
} from '@portico/sql';
import type { Client, ClientAddition, ClientLogo } from '../client.ts';
import type { FurtherGrants } from '../grant.ts';
import {
  CLIENT_COLUMNS,
  clientValues,
  keyValues,
  SET_KEYS,
  toClient,
  type ClientRow,
} from './client-rows.ts';
import { replaceLogo } from './logos.ts';
import { confirmRevocation, exists, HAS_OPENID } from './statements.ts';

/**
 * Returns true if the server currently accepts a client with this id. Lookups treat any other
 * client as revoked. Only the list of all clients and a person's list of authorizations still
 * include it.
 */
export type Admits = (clientId: string) => boolean;

export class ClientRecords {
  readonly #database: Database;
  readonly #admits: Admits;
  readonly #further: FurtherGrants;

  constructor(database: Database, admits: Admits, further: FurtherGrants) {
    this.#database = database;
    this.#admits = admits;
    this.#further = further;
  }

  insertClient(client: Client, its: WithClient = {}): Promise<void> {
    return its.logo === undefined && its.addition === undefined
      ? insertClient(this.#database, client)
      : this.#database.transaction((connection) => insertWhole(connection, client, its));
  }

  /**
   * Inserts the client unless a matching one exists. Returns the oldest matching client, or null if
   * the new one was inserted. Simultaneous calls run one after the other, even in different
   * processes. Each call sees the clients of earlier calls.
   */
  insertClientUnless(
    client: Client,
    isThere: (client: Client) => boolean,
    its: WithClient = {},
  ): Promise<Client | null> {
    return this.#database.transaction(
      (connection) =>
        inTurn(connection, client, async () => {
          const existing = (await listClients(connection)).find(
            (each) => each.id !== TURN && isThere(each),
          );
          if (existing === undefined) await insertWhole(connection, client, its);
          return existing ?? null;
        }),
      // Read in a new transaction that first inserts the row `TURN`. The insert waits until the
      // lost transaction has ended.
      async (_, existing) =>
        existing !== null ||
        this.#database.transaction((connection) =>
          inTurn(connection, client, () =>
            exists(connection, 'oauth_clients', 'client_id', client.id),
          ),
        ),
    );
  }

  /**
   * Inserts all of these clients, and runs the addition in the same transaction. If one of the ids
   * exists, inserts none and returns this id. Simultaneous calls run one after the other, even in
   * different processes.
   */
  async insertClients(
    clients: readonly Client[],
    addition?: ClientAddition,
  ): Promise<string | null> {
    const [first] = clients;
    if (first === undefined) return null;
    return this.#database.transaction(
      (connection) =>
        inTurn(connection, first, async () => {
          const existing = await insertAll(connection, clients);
          if (existing === null) await addition?.(connection);
          return existing;
        }),
      // Read in a new transaction that first inserts the row `TURN`. The insert waits until the
      // lost transaction has ended.
      async (_, existing) =>
        existing !== null ||
        this.#database.transaction((connection) =>
          inTurn(connection, first, () => isThisClient(connection, first)),
        ),
    );
  }

  /**
   * Returns the client with exactly this id, even if it is revoked. A client that the server
   * currently does not accept is returned as revoked.
   */
  async findClient(id: string): Promise<Client | null> {
    const client = await this.findStoredClient(id);
    if (client === null || client.revokedAt !== null || this.#admits(id)) return client;
    return { ...client, revokedAt: client.createdAt };
  }

  /**
   * Returns the client with exactly this id as it is stored, even if the server currently does not
   * accept it. Use this only to show the client.
   */
  findStoredClient(id: string): Promise<Client | null> {
    return findClient(this.#database, id);
  }

  /**
   * Makes the secret with this hash the client's current secret. It expires at `expiresAt` (null:
   * it never expires).
   *
   * The current secret becomes the previous one. It works until `previousExpiresAt`, or until its
   * own expiry if that is earlier. Null stops it immediately. Older secrets stop working.
   *
   * Returns false for an unknown or revoked client, and for a client without a secret. Also returns
   * false if `replaced` is given but is not the hash of the current secret.
   */
  async rotateSecret(
    clientId: string,
    secretHash: string,
    previousExpiresAt: number | null,
    replaced: string | null = null,
    expiresAt: number | null = null,
  ): Promise<boolean> {
    const [isReplaced, replacing] =
      replaced === null ? ['', []] : [' AND secret_hash = ?', [replaced]];
    const previous = previousExpiresAt === null ? 'NULL' : 'secret_hash';
    // MySQL assigns from left to right. Copy the current secret before it is replaced.
    const rotate = (committed?: () => Promise<boolean>) =>
      this.#database.execute(
        `UPDATE oauth_clients SET previous_secret_hash = ${previous},
            previous_secret_expires_at = CASE WHEN secret_expires_at < ? THEN secret_expires_at ELSE ? END,
            secret_hash = ?, secret_expires_at = ?
          WHERE client_id = ? AND is_public = 0 AND revoked_at IS NULL AND secret_hash <> ?${isReplaced}`,
        [
          previousExpiresAt,
          previousExpiresAt,
          secretHash,
          expiresAt,
          clientId,
          secretHash,
          ...replacing,
        ],
        committed,
      );
    // If the response was lost, rotate again. The lost statement then changes nothing if it runs
    // later. Otherwise, it could end the application's secret without giving it a new one.
    const { affected } = await rotate(async () => {
      await rotate();
      // Write the new secret again. A read may return a row that the standbys do not have.
      const isRotated = await this.#database.execute(
        'UPDATE oauth_clients SET secret_hash = secret_hash WHERE client_id = ? AND secret_hash = ?',
        [clientId, secretHash],
      );
      return isRotated.affected === 1;
    });
    return affected === 1;
  }

  /**
   * Updates a client that an operator registered. A new logo replaces the old one, and null removes
   * it. `addition` may run twice: its second run must not change the result.
   *
   * Returns false if the client is revoked, or if a column of `UPDATE_CLIENT` changed after the
   * caller read the client.
   */
  updateClient(
    read: Client,
    changed: Client,
    { logo, addition }: ClientUpdate = {},
  ): Promise<boolean> {
    return this.#database.transaction(
      async (connection) => {
        const current = await claimClient(connection, read.id);
        if (current === null || current.revokedAt !== null || !saysTheSame(current, read))
          return false;
        await connection.execute(UPDATE_CLIENT, updateValues(changed));
        if (logo !== undefined) await replaceLogo(connection, read.id, logo);
        await addition?.(connection);
        return true;
      },
      // Read in a new transaction. It waits until the lost transaction has ended.
      async (_, isUpdated) =>
        !isUpdated ||
        this.#database.transaction(async (connection) => {
          const current = await claimClient(connection, read.id);
          if (current === null || !saysTheSame(current, changed)) return false;
          // Run the addition again. The client's row does not show whether the first run was
          // committed.
          await addition?.(connection);
          return true;
        }),
    );
  }

  /**
   * Returns the client if an operator registered it and it is not revoked. Locks its row until the
   * transaction ends.
   */
  async claimClient(id: string, connection: SqlConnection): Promise<Client | null> {
    const client = await claimClient(connection, id);
    return client?.revokedAt === null ? client : null;
  }

  /**
   * Revokes the client and all of its tokens. Returns false if it is unknown or already revoked. An
   * earlier revocation is durable when the promise resolves.
   */
  async revokeClient(clientId: string, now: number): Promise<boolean> {
    const { affected } = await this.#database.execute(
      'UPDATE oauth_clients SET revoked_at = ? WHERE client_id = ? AND revoked_at IS NULL',
      [now, clientId],
    );
    if (affected === 1) return true;
    await confirmRevocation(this.#database, 'oauth_clients', 'client_id = ?', [clientId]);
    return false;
  }

  /** Does nothing if a client with this id exists. */
  async insertRevokedClient(client: Client): Promise<void> {
    const row = INSERT_CLIENT.slice('INSERT INTO '.length);
    await insertIfNone(this.#database, row, '(client_id)', clientValues(client));
  }

  /** Oldest first. */
  listClients(): Promise<readonly Client[]> {
    return listClients(this.#database);
  }

  async listClientsAfter(id: string, limit: number): Promise<readonly Client[]> {
    const { rows } = await this.#database.execute<ClientRow>(
      `SELECT ${CLIENT_COLUMNS} FROM oauth_clients WHERE client_id > ? ORDER BY client_id ` +
        `LIMIT ${limit}`,
      [id],
    );
    return rows.map(toClient);
  }

  /** Returns true if any client that is not revoked may request ID tokens. */
  async hasOpenidClient(): Promise<boolean> {
    const grants = ['authorization_code', ...this.#further('person')];
    const dialect = getDialect(this.#database);
    const { rows } = await this.#database.execute(
      `SELECT 1 FROM oauth_clients WHERE revoked_at IS NULL AND (${HAS_OPENID})
        AND (${grants.map(() => dialect.hasWord('grants')).join(' OR ')}) LIMIT 1`,
      grants.map((grant) => ` ${grant} `),
    );
    return rows.length > 0;
  }

  async noteClientUse(clientId: string, now: number): Promise<void> {
    await this.#database.execute('UPDATE oauth_clients SET used_at = ? WHERE client_id = ?', [
      now,
      clientId,
    ]);
  }
}

interface ClientUpdate {
  readonly logo?: ClientLogo | null | undefined;
  readonly addition?: ClientAddition | undefined;
}

const CLAIM_CLIENT = 'UPDATE oauth_clients SET revoked_at = revoked_at WHERE client_id = ?';

const UPDATE_CLIENT = `UPDATE oauth_clients SET name = ?, redirect_uris = ?, scope = ?, grants = ?, id_token_alg = ?, ${SET_KEYS},
  client_uri = ?, logo_hash = ? WHERE client_id = ?`;

function updateValues(client: Client): readonly SqlParameter[] {
  return [
    client.name,
    JSON.stringify(client.redirectUris),
    client.scopes.join(' '),
    client.grants.join(' '),
    client.idTokenSignedResponseAlg,
    ...keyValues(client),
    client.siteUri ?? null,
    client.logoHash ?? null,
    client.id,
  ];
}

/** Compares the columns of `UPDATE_CLIENT`. */
function saysTheSame(one: Client, other: Client): boolean {
  return JSON.stringify(updateValues(one)) === JSON.stringify(updateValues(other));
}

/**
 * Waits for other transactions that write the client's row, and locks it. Returns the client if an
 * operator registered it.
 */
async function claimClient(connection: SqlConnection, id: string): Promise<Client | null> {
  await connection.execute(CLAIM_CLIENT, [id]);
  const client = await findClient(connection, id);
  return client?.registeredBy === 'operator' ? client : null;
}
