import { insertIfNone } from '../../../sql/insert-if-none.ts';
import type { Database, SqlConnection, SqlParameter } from '../../../sql/contract.ts';
import type {
  ApplicationType,
  Client,
  ClientKeys,
  ClientLogo,
  Grant,
  RegisteredBy,
  SigningAlgorithm,
} from '../client.ts';
import type { Store } from '../store.ts';
import { replaceLogo } from './logos.ts';
import { confirmRevocation, exists, HAS_OPENID, insertInto, words } from './statements.ts';

/** The registered applications: `oauth_clients`. */
export function clientsTable(database: Database, admits: Admits) {
  return {
    insertClient: (client, logo) =>
      logo === undefined
        ? insertClient(database, client)
        : database.transaction((connection) => insertWithLogo(connection, client, logo)),

    insertClientUnless(client, isThere, logo) {
      return database.transaction(
        (connection) =>
          inTurn(connection, client, async () => {
            const existing = (await listClients(connection)).find(
              (each) => each.id !== TURN && isThere(each),
            );
            if (existing === undefined) await insertWithLogo(connection, client, logo);
            return existing ?? null;
          }),
        // In a turn of its own, which comes when what was lost has ended.
        async (_, existing) =>
          existing !== null ||
          database.transaction((connection) =>
            inTurn(connection, client, () => exists(connection, 'oauth_clients', 'client_id', client.id)),
          ),
      );
    },

    async insertClients(clients) {
      const [first] = clients;
      if (first === undefined) return null;
      return database.transaction(
        (connection) =>
          inTurn(connection, first, async () => {
            for (const { id } of clients)
              if (await exists(connection, 'oauth_clients', 'client_id', id)) return id;
            for (const client of clients) await insertClient(connection, client);
            return null;
          }),
        // In a turn of its own, which comes when what was lost has ended.
        async (_, existing) =>
          existing !== null ||
          database.transaction((connection) =>
            inTurn(connection, first, async () => {
              const { rows } = await connection.execute<ClientRow>(FIND_CLIENT, [first.id]);
              // Not one of its id that somebody else has inserted since.
              return rows.some(
                (row) => JSON.stringify(clientValues(toClient(row))) === JSON.stringify(clientValues(first)),
              );
            }),
          ),
      );
    },

    async findClient(id) {
      const { rows } = await database.execute<ClientRow>(FIND_CLIENT, [id]);
      // Some collations ignore trailing spaces; a client id is compared byte by byte.
      const row = rows.find((found) => found.client_id === id);
      return row === undefined ? null : admitted(toClient(row), admits);
    },

    async rotateSecret(clientId, secretHash, previousExpiresAt, replaced = null) {
      const [isReplaced, replacing] = replaced === null ? ['', []] : [' AND secret_hash = ?', [replaced]];
      const previous = previousExpiresAt === null ? 'NULL' : 'secret_hash';
      // MySQL assigns from left to right, so the previous secret is kept before the current one is replaced.
      const rotate = (committed?: () => Promise<boolean>) =>
        database.execute(
          `UPDATE oauth_clients SET previous_secret_hash = ${previous}, previous_secret_expires_at = ?, secret_hash = ?
          WHERE client_id = ? AND is_public = 0 AND revoked_at IS NULL AND secret_hash <> ?${isReplaced}`,
          [previousExpiresAt, secretHash, clientId, secretHash, ...replacing],
          committed,
        );
      // Nobody has a secret whose rotation was lost: another rotation would end the one that the application has.
      const { affected } = await rotate(async () => {
        await rotate();
        return exists(database, 'oauth_clients', 'secret_hash', secretHash);
      });
      return affected === 1;
    },

    updateClient(read, changed, logo) {
      return database.transaction(
        async (connection) => {
          const current = await claimClient(connection, read.id);
          if (current === null || current.revokedAt !== null || !saysTheSame(current, read)) return false;
          await connection.execute(UPDATE_CLIENT, updateValues(changed));
          if (logo !== undefined) await replaceLogo(connection, read.id, logo);
          return true;
        },
        // In a transaction of its own, which waits until what was lost has ended.
        async (_, isUpdated) =>
          !isUpdated ||
          database.transaction(async (connection) => {
            const current = await claimClient(connection, read.id);
            return current !== null && saysTheSame(current, changed);
          }),
      );
    },

    async revokeClient(clientId, now) {
      const { affected } = await database.execute(
        'UPDATE oauth_clients SET revoked_at = ? WHERE client_id = ? AND revoked_at IS NULL',
        [now, clientId],
      );
      if (affected === 1) return true;
      await confirmRevocation(database, 'oauth_clients', 'client_id = ?', [clientId]);
      return false;
    },

    async insertRevokedClient(client) {
      const row = INSERT_CLIENT.slice('INSERT INTO '.length);
      await insertIfNone(database, row, '(client_id)', clientValues(client));
    },

    listClients: () => listClients(database),

    async listClientsAfter(id, limit) {
      const { rows } = await database.execute<ClientRow>(
        `SELECT ${CLIENT_COLUMNS} FROM oauth_clients WHERE client_id > ? ORDER BY client_id LIMIT ${limit}`,
        [id],
      );
      return rows.map(toClient);
    },

    async hasOpenidClient() {
      const { rows } = await database.execute(
        `SELECT 1 FROM oauth_clients WHERE revoked_at IS NULL AND grants LIKE '%authorization_code%'
        AND (${HAS_OPENID}) LIMIT 1`,
      );
      return rows.length > 0;
    },
  } satisfies Partial<Store>;
}

/**
 * Whether a client of this id may do anything now. One that may not is as good as revoked for whoever asks for it by its id or holds
 * its tokens; only the list of all clients, and a person's list of what they have allowed, shows it as it is kept.
 */
export type Admits = (clientId: string) => boolean;

function admitted(client: Client, admits: Admits): Client {
  return client.revokedAt !== null || admits(client.id) ? client : { ...client, revokedAt: client.createdAt };
}

/** Columns by name, everywhere: a later schema may add some while this process still serves. */
export const CLIENT_COLUMNS = `client_id, name, redirect_uris, scope, grants, is_public, secret_hash, previous_secret_hash,
  previous_secret_expires_at, created_at, revoked_at, id_token_alg, application_type, registered_by, used_at,
  profile, token_endpoint_auth_method, token_endpoint_auth_signing_alg, jwks, jwks_uri, pushes_requests,
  dpop_bound_access_tokens, client_uri, logo_hash`;

const INSERT_CLIENT = insertInto('oauth_clients', CLIENT_COLUMNS);

const FIND_CLIENT = `SELECT ${CLIENT_COLUMNS} FROM oauth_clients WHERE client_id = ?`;

/** What `keyValues` sets. */
export const SET_KEYS =
  'token_endpoint_auth_method = ?, token_endpoint_auth_signing_alg = ?, jwks = ?, jwks_uri = ?, pushes_requests = ?, dpop_bound_access_tokens = ?';

export async function insertClient(connection: SqlConnection, client: Client): Promise<void> {
  await connection.execute(INSERT_CLIENT, clientValues(client));
}

async function insertWithLogo(
  connection: SqlConnection,
  client: Client,
  logo: ClientLogo | undefined,
): Promise<void> {
  await insertClient(connection, client);
  if (logo !== undefined) await replaceLogo(connection, client.id, logo);
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

/** Whether both are the same in all that `UPDATE_CLIENT` sets. */
function saysTheSame(one: Client, other: Client): boolean {
  return JSON.stringify(updateValues(one)) === JSON.stringify(updateValues(other));
}

/** The client that an operator registered, once whoever else writes its row has ended; nobody writes it from then on. */
async function claimClient(connection: SqlConnection, id: string): Promise<Client | null> {
  await connection.execute(CLAIM_CLIENT, [id]);
  const { rows } = await connection.execute<ClientRow>(FIND_CLIENT, [id]);
  const row = rows.find((found) => found.client_id === id);
  return row === undefined || (row.registered_by ?? 'operator') !== 'operator' ? null : toClient(row);
}

/** For `CLIENT_COLUMNS`. */
export function clientValues(client: Client): readonly SqlParameter[] {
  return [
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
    client.applicationType,
    client.registeredBy,
    client.usedAt,
    client.profile,
    ...keyValues(client),
    client.siteUri ?? null,
    client.logoHash ?? null,
  ];
}

/** For `SET_KEYS`, and those of `CLIENT_COLUMNS`. */
export function keyValues({
  keys,
  pushesRequests,
  dpopBoundAccessTokens: isBound,
}: Pick<Client, 'keys' | 'pushesRequests' | 'dpopBoundAccessTokens'>): readonly SqlParameter[] {
  const ofKeys =
    keys === null ? [null, null, null, null] : ['private_key_jwt', keys.algorithm, keys.jwks, keys.jwksUri];
  return [...ofKeys, pushesRequests ? 1 : null, isBound ? 1 : null];
}

/**
 * The id of a row that is inserted first and deleted last in a transaction, and so seen by nobody: a second row of this key waits for
 * the end of that transaction, on every engine. It is the claim of a step that decides on all clients, where there is no row to claim.
 */
const TURN = 'one at a time';

/** The row of the turn is like that of this client. */
async function inTurn<T>(connection: SqlConnection, client: Client, work: () => Promise<T>): Promise<T> {
  await insertClient(connection, { ...client, id: TURN });
  const result = await work();
  await connection.execute('DELETE FROM oauth_clients WHERE client_id = ?', [TURN]);
  return result;
}

async function listClients(connection: SqlConnection): Promise<readonly Client[]> {
  const { rows } = await connection.execute<ClientRow>(
    `SELECT ${CLIENT_COLUMNS} FROM oauth_clients ORDER BY created_at, client_id`,
  );
  return rows.map(toClient);
}

export interface ClientRow {
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
  /** Null is RS256. */
  readonly id_token_alg: SigningAlgorithm | null;
  /** Null is `web`. */
  readonly application_type: ApplicationType | null;
  /** Null is `operator`. */
  readonly registered_by: RegisteredBy | null;
  readonly used_at: number | null;
  readonly profile: string | null;
  /** `private_key_jwt`; null for a client of another method. */
  readonly token_endpoint_auth_method: string | null;
  readonly token_endpoint_auth_signing_alg: string | null;
  readonly jwks: string | null;
  readonly jwks_uri: string | null;
  readonly pushes_requests: number | null;
  readonly dpop_bound_access_tokens: number | null;
  readonly client_uri: string | null;
  readonly logo_hash: string | null;
}

export function toClient(row: ClientRow): Client {
  return {
    id: row.client_id,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    scopes: words(row.scope),
    grants: words(row.grants) as Grant[],
    idTokenSignedResponseAlg: row.id_token_alg ?? 'RS256',
    public: row.is_public === 1,
    applicationType: row.application_type ?? 'web',
    registeredBy: row.registered_by ?? 'operator',
    keys: row.token_endpoint_auth_method === null ? null : keysOf(row),
    pushesRequests: row.pushes_requests === 1,
    dpopBoundAccessTokens: row.dpop_bound_access_tokens === 1,
    profile: row.profile,
    secretHash: row.secret_hash,
    previousSecretHash: row.previous_secret_hash,
    previousSecretExpiresAt: row.previous_secret_expires_at,
    createdAt: row.created_at,
    usedAt: row.used_at,
    revokedAt: row.revoked_at,
    ...lookOf(row),
  };
}

/** How the client looks, as a row says. */
export function lookOf({
  client_uri: siteUri,
  logo_hash: logoHash,
}: Pick<ClientRow, 'client_uri' | 'logo_hash'>): Pick<Client, 'siteUri' | 'logoHash'> {
  return { ...(siteUri === null ? {} : { siteUri }), ...(logoHash === null ? {} : { logoHash }) };
}

/** With a method that this release does not know a client has no key that it could be known by. */
function keysOf(row: ClientRow): ClientKeys {
  return row.token_endpoint_auth_method === 'private_key_jwt'
    ? { jwks: row.jwks, jwksUri: row.jwks_uri, algorithm: row.token_endpoint_auth_signing_alg }
    : { jwks: null, jwksUri: null, algorithm: null };
}
