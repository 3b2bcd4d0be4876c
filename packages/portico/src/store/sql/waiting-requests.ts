import type { Database, SqlConnection } from '@portico/sql';
import { makeRoom } from '../make-room.ts';
import { BUDGET_ROW } from '../migrations/locked-rows.ts';
import type { WaitingBudget, WaitingRequest } from '../requests.ts';
import {
  exists,
  insertInto,
  keysWhere,
  placeholders,
  removeKeys,
  removeWhere,
} from './statements.ts';

/**
 * Reads and writes pushed requests, and requests that are too long for a cookie
 * (`oauth_waiting_requests`). `BUDGET_ROW` is not a request. Requests of zero bytes use no part of
 * the budget.
 */
export class WaitingRequestRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores the request within the budget. Returns false if it does not fit.
   *
   * To make room, removes the oldest requests of the network with the most bytes. This network must
   * use more bytes than the new request's network would use afterwards.
   *
   * Without a budget, always stores the request and counts zero bytes.
   */
  async keepWaitingRequest(
    request: WaitingRequest,
    budget: WaitingBudget | null,
    now: number,
  ): Promise<boolean> {
    if (budget === null) {
      await insertWaiting(this.#database, request, 0);
      return true;
    }
    // Check this before any write. It makes refusing a network at its limit cheap.
    const { rows } = await this.#database.execute<{ held: number | string | null }>(
      'SELECT SUM(byte_count) AS held FROM oauth_waiting_requests WHERE network = ? AND ' +
        'expires_at > ?',
      [request.network, now],
    );
    if (Number(rows[0]?.held ?? 0) + request.bytes > budget.ofOneNetwork) return false;
    return this.#database.transaction(
      (connection) => keepWaiting(connection, request, budget, now),
      async (connection, kept) =>
        kept && exists(connection, 'oauth_waiting_requests', 'secret_hash', request.secretHash),
    );
  }

  /** Returns the parameters, or null if the request is unknown or has expired. */
  async findWaitingRequest(secretHash: string, now: number): Promise<string | null> {
    const { rows } = await this.#database.execute<{ parameters: string }>(
      'SELECT parameters FROM oauth_waiting_requests WHERE secret_hash = ? AND expires_at > ' +
        '? AND secret_hash <> ?',
      [secretHash, now, BUDGET_ROW],
    );
    return rows[0]?.parameters ?? null;
  }

  async endWaitingRequest(secretHash: string): Promise<void> {
    await this.#database.execute(
      'DELETE FROM oauth_waiting_requests WHERE secret_hash = ? AND secret_hash <> ?',
      [secretHash, BUDGET_ROW],
    );
  }

  /**
   * Removes the first `limit` requests after this key. Returns their number, and the last key read.
   * The key is null at the end.
   */
  async endWaitingRequests(
    after: string,
    limit: number,
  ): Promise<{ readonly ended: number; readonly last: string | null }> {
    const keys = await keysWhere(this.#database, TABLE, ['secret_hash', '> ?', [after]], limit);
    const last = keys.length < limit ? null : (keys.at(-1) ?? null);
    const isRequest = ['secret_hash', '<> ?', [BUDGET_ROW]] as const;
    return { ended: await removeKeys(this.#database, TABLE, keys, isRequest), last };
  }
}

const TABLE = ['oauth_waiting_requests', 'secret_hash'] as const;
/**
 * How many expired rows each new request removes at most. A request adds only one row, so expired
 * rows do not accumulate.
 */
const REMOVED_AT_ONCE = 200;
/**
 * How many stored requests a new one may replace. This is enough for the longest request in place
 * of the shortest ones.
 */
const MOST_LEAVING = 300;

async function keepWaiting(
  connection: SqlConnection,
  request: WaitingRequest,
  budget: WaitingBudget,
  now: number,
): Promise<boolean> {
  // Lock the row `BUDGET_ROW` with a write first. No other request is then added between the count
  // and the insert. Change the row each time: unchanged rows do not conflict across the nodes of
  // Galera.
  await connection.execute(
    'UPDATE oauth_waiting_requests SET parameters = ? WHERE secret_hash = ?',
    [request.secretHash, BUDGET_ROW],
  );
  await removeWhere(connection, TABLE, ['expires_at', '<= ?', [now]], REMOVED_AT_ONCE);
  const { rows } = await connection.execute<{ network: string; held: number | string }>(
    `SELECT network, SUM(byte_count) AS held FROM oauth_waiting_requests WHERE ${COUNTED} ` +
      'GROUP BY network',
    [now],
  );
  const held = new Map(rows.map((row) => [row.network, Number(row.held)]));
  const room = await makeRoom(request, held, budget, async (network) => {
    const { rows: oldest } = await connection.execute<{ found: string; bytes: number }>(
      `SELECT secret_hash AS found, byte_count AS bytes FROM oauth_waiting_requests WHERE ${COUNTED} AND network = ?
      ORDER BY expires_at LIMIT ${MOST_LEAVING}`,
      [now, network],
    );
    return oldest.map(({ found, bytes }) => ({ key: found, bytes }));
  });
  if (room === null) return false;
  if (room.length > 0) {
    await connection.execute(
      `DELETE FROM oauth_waiting_requests WHERE secret_hash IN (${placeholders(room)})`,
      room,
    );
  }
  await insertWaiting(connection, request, request.bytes);
  return true;
}

/** Matches requests that use the budget and have not expired. */
const COUNTED = 'expires_at > ? AND byte_count > 0';

async function insertWaiting(
  connection: SqlConnection,
  { secretHash, network, parameters, expiresAt }: WaitingRequest,
  counted: number,
): Promise<void> {
  await connection.execute(INSERT, [secretHash, network, parameters, counted, expiresAt]);
}

const INSERT = insertInto(
  'oauth_waiting_requests',
  'secret_hash, network, parameters, byte_count, expires_at',
);
