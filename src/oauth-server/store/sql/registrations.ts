import type { Database, SqlConnection } from '../../../sql/contract.ts';
import type {
  InitialAccessToken,
  NewRegistration,
  RegistrationLimits,
  RegistrationRefusal,
} from '../client.ts';
import type { Store } from '../store.ts';
import { REGISTRATION_TURN } from '../migrations/locked-rows.ts';
import { insertClient, keyValues, SET_KEYS } from './clients.ts';
import { exists, keysWhere, placeholders, removeWhere } from './statements.ts';

/** Clients that register themselves, among `oauth_clients`, and what they do it with: `oauth_initial_access_tokens`. */
export function registrationsTable(database: Database) {
  return {
    async registerClient(registration, limits, now) {
      const { client } = registration;
      // Whoever has to wait is refused without a write.
      const refusal = await refusalOf(database, registration, limits, now);
      if (refusal !== null && !('oldest' in refusal)) return refusal;
      return database.transaction(
        (connection) => inTurn(connection, () => register(connection, registration, limits, now)),
        // In a turn of its own, which comes when what was lost has ended.
        async (_, refused) =>
          refused !== null ||
          database.transaction((connection) =>
            inTurn(connection, () => exists(connection, 'oauth_clients', 'client_id', client.id)),
          ),
      );
    },

    async findRegistrationHash(clientId) {
      const { rows } = await database.execute<{ registration_hash: string | null }>(
        "SELECT registration_hash FROM oauth_clients WHERE client_id = ? AND registered_by = 'registration'",
        [clientId],
      );
      return rows[0]?.registration_hash ?? null;
    },

    async updateRegistration(client, tokenHash) {
      const redirectUris = JSON.stringify(client.redirectUris);
      const { affected } = await database.execute(
        `UPDATE oauth_clients SET name = ?, redirect_uris = ?, scope = ?, grants = ?, id_token_alg = ?, application_type = ?,
        ${SET_KEYS} WHERE client_id = ? AND registration_hash = ? AND revoked_at IS NULL AND (used_at IS NULL OR redirect_uris = ?)`,
        [
          client.name,
          redirectUris,
          client.scopes.join(' '),
          client.grants.join(' '),
          client.idTokenSignedResponseAlg,
          client.applicationType,
          ...keyValues(client),
          client.id,
          tokenHash,
          redirectUris,
        ],
      );
      return affected === 1;
    },

    async noteClientUse(clientId, now) {
      await database.execute('UPDATE oauth_clients SET used_at = ? WHERE client_id = ?', [now, clientId]);
    },

    async insertInitialAccessToken({ id, note, uses, usesLeft, createdAt, expiresAt }, tokenHash) {
      await database.execute(
        `INSERT INTO oauth_initial_access_tokens (id, token_hash, note, uses, uses_left, created_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
        [id, tokenHash, note, uses, usesLeft, createdAt, expiresAt],
      );
    },

    async findInitialAccessToken(tokenHash) {
      const { rows } = await database.execute<TokenRow>(
        `SELECT ${TOKEN_COLUMNS} FROM oauth_initial_access_tokens WHERE token_hash = ?`,
        [tokenHash],
      );
      return rows[0] === undefined ? null : toToken(rows[0]);
    },

    async listInitialAccessTokens() {
      const { rows } = await database.execute<TokenRow>(
        `SELECT ${TOKEN_COLUMNS} FROM oauth_initial_access_tokens WHERE id <> ? ORDER BY created_at, id`,
        [REGISTRATION_TURN],
      );
      return rows.map(toToken);
    },

    async deleteInitialAccessToken(id) {
      const { affected } = await database.execute(
        'DELETE FROM oauth_initial_access_tokens WHERE id = ? AND id <> ?',
        [id, REGISTRATION_TURN],
      );
      return affected === 1;
    },

    async pruneRegistrations({ neverUsedBefore, unusedBefore, expiredBefore, uncountedBefore }, limit) {
      const clients = ['oauth_clients', 'client_id'] as const;
      const neverUsed = await removeWhere(
        database,
        clients,
        ['created_at', "< ? AND used_at IS NULL AND registered_by = 'registration'", [neverUsedBefore]],
        limit,
      );
      const unused = await removeWhere(
        database,
        clients,
        ['used_at', "< ? AND registered_by = 'registration'", [unusedBefore]],
        limit,
      );
      // As long as a document is fresh, somebody may be shown it without a write. A URL that is blocked stays so.
      const documents = await removeWhere(
        database,
        clients,
        [
          'document_fresh_until',
          "< ? AND used_at IS NULL AND revoked_at IS NULL AND registered_by = 'document'",
          [neverUsedBefore],
        ],
        limit,
      );
      const tokens = await removeWhere(
        database,
        ['oauth_initial_access_tokens', 'id'],
        ['expires_at', '< ?', [expiredBefore]],
        limit,
      );
      const uncounted = await keysWhere(
        database,
        clients,
        ['registered_from', 'IS NOT NULL AND created_at < ?', [uncountedBefore]],
        limit,
      );
      if (uncounted.length > 0) {
        const forget = `UPDATE oauth_clients SET registered_from = NULL WHERE client_id IN (${placeholders(uncounted)})`;
        await database.execute(forget, uncounted);
      }
      const removed = neverUsed + unused + documents;
      return { clients: removed, more: removed + tokens + uncounted.length > 0 };
    },
  } satisfies Partial<Store>;
}

/** Claims the one row that every registration writes first, also in other processes. */
async function inTurn<T>(connection: SqlConnection, work: () => Promise<T>): Promise<T> {
  await connection.execute('UPDATE oauth_initial_access_tokens SET uses_left = 0 WHERE id = ?', [
    REGISTRATION_TURN,
  ]);
  return work();
}

/** In turn, so that nobody registers between the count and the insert. */
async function register(
  connection: SqlConnection,
  registration: NewRegistration,
  limits: RegistrationLimits,
  now: number,
): Promise<RegistrationRefusal | null> {
  const { client, tokenHash, network, initialTokenHash } = registration;
  const refusal = await refusalOf(connection, registration, limits, now);
  if (refusal !== null && !('oldest' in refusal)) return refusal;
  if (initialTokenHash !== null && !(await useToken(connection, initialTokenHash, now)))
    return { reason: 'token' };
  if (refusal !== null) {
    // Used at this moment, it stays: then there is one more.
    await connection.execute('DELETE FROM oauth_clients WHERE client_id = ? AND used_at IS NULL', [
      refusal.oldest,
    ]);
  }
  await insertClient(connection, client);
  await connection.execute(
    'UPDATE oauth_clients SET registration_hash = ?, registered_from = ? WHERE client_id = ?',
    [tokenHash, network, client.id],
  );
  return null;
}

/** Why one more may not register now, or which unused one has to go for it. */
async function refusalOf(
  connection: SqlConnection,
  { network, initialTokenHash }: NewRegistration,
  { ofOneNetwork, unused, period }: RegistrationLimits,
  now: number,
): Promise<Exclude<RegistrationRefusal, { reason: 'token' }> | { readonly oldest: string } | null> {
  // An operator has decided how many these are; strangers must not keep them out.
  if (initialTokenHash !== null) return null;
  const { rows: ofNetwork } = await connection.execute<Counted>(
    'SELECT COUNT(*) AS held, MIN(created_at) AS since FROM oauth_clients WHERE registered_from = ? AND created_at > ?',
    [network, now - period],
  );
  const { held, since } = counted(ofNetwork);
  if (held >= ofOneNetwork) return { reason: 'network', until: since + period };
  const { rows } = await connection.execute<Counted>(
    `SELECT COUNT(*) AS held FROM oauth_clients WHERE ${UNUSED}`,
  );
  if (counted(rows).held < unused) return null;
  const { rows: oldest } = await connection.execute<{ client_id: string; created_at: number }>(
    `SELECT client_id, created_at FROM oauth_clients WHERE ${UNUSED} ORDER BY created_at LIMIT 1`,
  );
  const [first] = oldest;
  if (first === undefined) return null;
  const until = first.created_at + period;
  return until <= now ? { oldest: first.client_id } : { reason: 'all', until };
}

const UNUSED = "registered_by = 'registration' AND used_at IS NULL";

interface Counted {
  readonly held: number | string;
  readonly since?: number | string | null;
}

function counted([row]: readonly Counted[]): { readonly held: number; readonly since: number } {
  return { held: Number(row?.held ?? 0), since: Number(row?.since ?? 0) };
}

async function useToken(connection: SqlConnection, tokenHash: string, now: number): Promise<boolean> {
  const { affected } = await connection.execute(
    `UPDATE oauth_initial_access_tokens SET uses_left = uses_left - 1
    WHERE token_hash = ? AND uses_left > 0 AND expires_at > ?`,
    [tokenHash, now],
  );
  return affected === 1;
}

const TOKEN_COLUMNS = 'id, note, uses, uses_left, created_at, expires_at';

interface TokenRow {
  readonly id: string;
  readonly note: string;
  readonly uses: number;
  readonly uses_left: number;
  readonly created_at: number;
  readonly expires_at: number;
}

function toToken(row: TokenRow): InitialAccessToken {
  return {
    id: row.id,
    note: row.note,
    uses: row.uses,
    usesLeft: row.uses_left,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
