import type { Database, SqlConnection } from '../../../sql/contract.ts';
import { makeRoom } from '../fair-share.ts';
import { BUDGET_ROW } from '../migrations/0005-waiting-requests.ts';
import type { Store, WaitingBudget, WaitingRequest } from '../store.ts';
import { exists, placeholders } from './statements.ts';

/** Requests that wait for somebody to sign in, and are too long for a cookie: `oauth_waiting_requests`. */
export function waitingRequestsTable(database: Database) {
  return {
    async keepWaitingRequest(request, budget, now) {
      // A network that has no room left is refused without a write.
      const { rows } = await database.execute<{ held: number | string | null }>(
        'SELECT SUM(byte_count) AS held FROM oauth_waiting_requests WHERE network = ? AND expires_at > ?',
        [request.network, now],
      );
      if (Number(rows[0]?.held ?? 0) + request.bytes > budget.ofOneNetwork) return false;
      return database.transaction(
        (connection) => keepWaiting(connection, request, budget, now),
        async (connection, kept) =>
          kept && exists(connection, 'oauth_waiting_requests', 'secret_hash', request.secretHash),
      );
    },

    async findWaitingRequest(secretHash, now) {
      const { rows } = await database.execute<{ parameters: string }>(
        'SELECT parameters FROM oauth_waiting_requests WHERE secret_hash = ? AND expires_at > ? AND byte_count > 0',
        [secretHash, now],
      );
      return rows[0]?.parameters ?? null;
    },

    async endWaitingRequest(secretHash) {
      await database.execute('DELETE FROM oauth_waiting_requests WHERE secret_hash = ? AND byte_count > 0', [
        secretHash,
      ]);
    },
  } satisfies Partial<Store>;
}

interface WaitingRow {
  readonly secret_hash: string;
  readonly network: string;
  readonly byte_count: number;
  readonly expires_at: number;
}

async function keepWaiting(
  connection: SqlConnection,
  request: WaitingRequest,
  budget: WaitingBudget,
  now: number,
): Promise<boolean> {
  // Claims the one row that every caller writes first, so that nobody adds between the count and the insert.
  await connection.execute('UPDATE oauth_waiting_requests SET byte_count = 0 WHERE secret_hash = ?', [
    BUDGET_ROW,
  ]);
  const { rows } = await connection.execute<WaitingRow>(
    `SELECT secret_hash, network, byte_count, expires_at FROM oauth_waiting_requests WHERE byte_count > 0
    ORDER BY expires_at`,
  );
  const held = rows.map((row) => ({
    key: row.secret_hash,
    network: row.network,
    bytes: row.byte_count,
    row,
  }));
  const over = held.filter(({ row }) => row.expires_at <= now);
  const room = makeRoom(
    request,
    held.filter(({ row }) => row.expires_at > now),
    budget,
  );
  if (room === null) return false;
  const leaving = [...over.map(({ key }) => key), ...room];
  if (leaving.length > 0) {
    await connection.execute(
      `DELETE FROM oauth_waiting_requests WHERE secret_hash IN (${placeholders(leaving)})`,
      leaving,
    );
  }
  await connection.execute(
    `INSERT INTO oauth_waiting_requests (secret_hash, network, parameters, byte_count, expires_at)
    VALUES (?, ?, ?, ?, ?)`,
    [request.secretHash, request.network, request.parameters, request.bytes, request.expiresAt],
  );
  return true;
}
