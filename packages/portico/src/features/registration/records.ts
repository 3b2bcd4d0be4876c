import type { Database, SqlConnection } from '@portico/sql';
import type { Client, ClientAddition } from '../../store/client.ts';
import { REGISTRATION_TURN } from '../../store/migrations/locked-rows.ts';
import { keyValues, SET_KEYS } from '../../store/sql/client-rows.ts';
import { insertClient } from '../../store/sql/client-statements.ts';
import { spendInitialAccessToken } from '../../store/sql/initial-access-tokens.ts';
import { exists } from '../../store/sql/statements.ts';

/** Where a registration request comes from. */
export interface RegistrationOrigin {
  /** The network of the request. Empty if unknown. */
  readonly network: string;
  /** A SHA-256 hash. Null if the client sent no initial access token. */
  readonly initialTokenHash: string | null;
}

/** A client that is about to register itself (RFC 7591). */
export interface NewRegistration extends RegistrationOrigin {
  readonly client: Client;
  /**
   * The SHA-256 hash of the registration access token. With this token, the client manages its
   * registration.
   */
  readonly tokenHash: string;
}

export interface RegistrationLimits {
  /**
   * How many clients can register from one network within `period`. Neither limit applies to
   * clients with an initial access token.
   */
  readonly ofOneNetwork: number;
  /**
   * How many clients can exist that were never used. At this limit, a new client replaces the
   * oldest unused one, if that is older than `period`. Otherwise, the registration is rejected.
   */
  readonly unused: number;
  /** The period for both limits, in milliseconds. */
  readonly period: number;
}

/**
 * `token`: the initial access token cannot be used. `network`: too many clients from this network.
 * `all`: too many unused clients.
 */
export type RegistrationRefusal =
  | { readonly reason: 'token' }
  /** The client can try again at `until`, in milliseconds since 1970. */
  | { readonly reason: 'network' | 'all'; readonly until: number };

/** Reads and writes clients that register themselves (RFC 7591, RFC 7592) in `oauth_clients`. */
export class RegistrationRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Registers a client within the limits and counts one use of the initial access token, or does
   * neither. Calls at the same time run one after the other, even in different processes. Returns
   * null if the client was registered.
   */
  async registerClient(
    registration: NewRegistration,
    limits: RegistrationLimits,
    now: number,
    addition?: ClientAddition,
  ): Promise<RegistrationRefusal | null> {
    const { client } = registration;
    // A rejection before the transaction needs no write.
    const refusal = await this.findRefusal(registration, limits, now);
    if (refusal !== null) return refusal;
    return this.#database.transaction(
      (connection) =>
        inTurn(connection, async () => {
          const refused = await register(connection, registration, limits, now);
          if (refused === null) await addition?.(connection);
          return refused;
        }),
      // If the result of the commit is unknown, look for the client. `inTurn` waits for the end of
      // the earlier transaction.
      async (_, refused) =>
        refused !== null ||
        this.#database.transaction((connection) =>
          inTurn(connection, () => exists(connection, 'oauth_clients', 'client_id', client.id)),
        ),
    );
  }

  /** Returns why the server would now reject this registration, or null. */
  async findRefusal(
    registration: RegistrationOrigin,
    limits: RegistrationLimits,
    now: number,
  ): Promise<RegistrationRefusal | null> {
    const refusal = await getRefusal(this.#database, registration, limits, now);
    return refusal === null || 'oldest' in refusal ? null : refusal;
  }

  /** Returns true if the client registered with an initial access token from an operator. */
  async hasInitialToken(clientId: string): Promise<boolean> {
    const { rows } = await this.#database.execute<{ registered_with_token: number | null }>(
      'SELECT registered_with_token FROM oauth_clients WHERE client_id = ?',
      [clientId],
    );
    return rows[0]?.registered_with_token === 1;
  }

  /**
   * Returns the hash of the registration access token. Returns null if the client is unknown or did
   * not register itself.
   */
  async findRegistrationHash(clientId: string): Promise<string | null> {
    const { rows } = await this.#database.execute<{ registration_hash: string | null }>(
      'SELECT registration_hash FROM oauth_clients WHERE client_id = ? AND registered_by = ' +
        "'registration'",
      [clientId],
    );
    return rows[0]?.registration_hash ?? null;
  }

  /**
   * Returns false in these cases:
   *
   * - The client was revoked.
   * - Its registration access token has changed.
   * - The client has been used, and its redirect URIs would change.
   */
  async updateRegistration(
    client: Client,
    tokenHash: string,
    addition?: ClientAddition,
  ): Promise<boolean> {
    if (addition === undefined) return updateRegistration(this.#database, client, tokenHash);
    return this.#database.transaction(async (connection) => {
      const isUpdated = await updateRegistration(connection, client, tokenHash);
      if (isUpdated) await addition(connection);
      return isUpdated;
    });
  }
}

const UPDATE = `UPDATE oauth_clients SET name = ?, redirect_uris = ?, scope = ?, grants = ?, id_token_alg = ?, application_type = ?,
  ${SET_KEYS} WHERE client_id = ? AND registration_hash = ? AND revoked_at IS NULL AND (used_at IS NULL OR redirect_uris = ?)`;

async function updateRegistration(
  connection: SqlConnection,
  client: Client,
  tokenHash: string,
): Promise<boolean> {
  const redirectUris = JSON.stringify(client.redirectUris);
  const { affected } = await connection.execute(UPDATE, [
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
  ]);
  return affected === 1;
}

/**
 * Every registration first locks this row, so registrations run one after the other, even in
 * different processes. The row changes each time, because unchanged rows do not conflict across the
 * nodes of Galera.
 */
async function inTurn<T>(connection: SqlConnection, work: () => Promise<T>): Promise<T> {
  await connection.execute('UPDATE oauth_initial_access_tokens SET uses = uses + 1 WHERE id = ?', [
    REGISTRATION_TURN,
  ]);
  return work();
}

/**
 * Only one registration runs at a time, so no client can register between the count and the insert.
 */
async function register(
  connection: SqlConnection,
  registration: NewRegistration,
  limits: RegistrationLimits,
  now: number,
): Promise<RegistrationRefusal | null> {
  const { client, tokenHash, network, initialTokenHash } = registration;
  const refusal = await getRefusal(connection, registration, limits, now);
  if (refusal !== null && !('oldest' in refusal)) return refusal;
  if (
    initialTokenHash !== null &&
    !(await spendInitialAccessToken(connection, initialTokenHash, now))
  )
    return { reason: 'token' };
  if (refusal !== null) {
    // The oldest client may have been used in the meantime. This statement then removes nothing,
    // and the store contains one client more than the limit.
    await connection.execute('DELETE FROM oauth_clients WHERE client_id = ? AND used_at IS NULL', [
      refusal.oldest,
    ]);
  }
  await insertClient(connection, client);
  await connection.execute(
    `UPDATE oauth_clients SET registration_hash = ?, registered_from = ?, registered_with_token = ?
      WHERE client_id = ?`,
    [tokenHash, network, initialTokenHash === null ? 0 : 1, client.id],
  );
  return null;
}

/**
 * Returns null if another client may register now. Otherwise, returns why not, or the unused client
 * that must be removed first.
 */
async function getRefusal(
  connection: SqlConnection,
  { network, initialTokenHash }: RegistrationOrigin,
  { ofOneNetwork, unused, period }: RegistrationLimits,
  now: number,
): Promise<Exclude<RegistrationRefusal, { reason: 'token' }> | { readonly oldest: string } | null> {
  // An operator decides how many clients can register with tokens.
  if (initialTokenHash !== null) return null;
  const { rows: ofNetwork } = await connection.execute<Counted>(
    'SELECT COUNT(*) AS held, MIN(created_at) AS since FROM oauth_clients WHERE ' +
      'registered_from = ? AND created_at > ?',
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

/**
 * Matches the unused clients that the limits count. Clients without an initial access token must
 * not replace clients with one, so the latter are not counted.
 */
const UNUSED = `registered_by = 'registration' AND used_at IS NULL AND
  (registered_with_token IS NULL OR registered_with_token = 0)`;

interface Counted {
  readonly held: number | string;
  readonly since?: number | string | null;
}

function counted([row]: readonly Counted[]): { readonly held: number; readonly since: number } {
  return { held: Number(row?.held ?? 0), since: Number(row?.since ?? 0) };
}
