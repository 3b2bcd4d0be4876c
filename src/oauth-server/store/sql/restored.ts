import type { Database } from '../../../sql/contract.ts';
import type { Store } from '../store.ts';
import { confirmRevocation, placeholders, removeKeys } from './statements.ts';

/** What ends after a restored backup: everything that was issued, whoever holds it. */
export function restoredTables(database: Database) {
  async function newest(table: string): Promise<string | null> {
    const { rows } = await database.execute<{ newest: string | null }>(
      `SELECT MAX(id) AS newest FROM ${table}`,
    );
    return rows[0]?.newest ?? null;
  }

  return {
    async newestIds() {
      return { family: await newest('oauth_families'), accessToken: await newest('oauth_access_tokens') };
    },

    async revokeFamilies(after, newestId, now, limit) {
      const { rows } = await database.execute<{ id: string; revoked_at: number | null }>(
        `SELECT id, revoked_at FROM oauth_families WHERE id > ? AND id <= ? ORDER BY id LIMIT ${limit}`,
        [after, newestId],
      );
      const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
      const living = rows.filter((row) => row.revoked_at === null).map((row) => row.id);
      const { affected: ended } =
        living.length === 0
          ? NONE
          : await database.execute(
              `UPDATE oauth_families SET revoked_at = ? WHERE id IN (${placeholders(living)}) AND revoked_at IS NULL`,
              [now, ...living],
            );
      // An earlier run may have ended what no standby has yet.
      if (last === null) await confirmRevocation(database, 'oauth_families', 'id = ?', [newestId]);
      return { ended, last };
    },

    async removeClientTokens(after, newestId, limit) {
      const { rows } = await database.execute<{
        id: string;
        family_id: string | null;
        secret_hash: string;
      }>(
        `SELECT id, family_id, secret_hash FROM oauth_access_tokens WHERE id > ? AND id <= ? ORDER BY id LIMIT ${limit}`,
        [after, newestId],
      );
      const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
      // A row with an empty hash is nobody's token, and keeps one from being issued late (ACCESS_TOKEN_BLOCKER).
      const own = rows.filter((row) => row.family_id === null && row.secret_hash !== '').map((row) => row.id);
      const table = ['oauth_access_tokens', 'id'] as const;
      return { ended: await removeKeys(database, table, own, ['family_id', 'IS NULL', []]), last };
    },

    async endRequests(after, limit) {
      const { rows } = await database.execute<{ id_hash: string }>(
        `SELECT id_hash FROM oauth_consent_requests WHERE id_hash > ? ORDER BY id_hash LIMIT ${limit}`,
        [after],
      );
      const last = rows.length < limit ? null : (rows.at(-1)?.id_hash ?? null);
      if (rows.length === 0) return { ended: 0, last };
      const { affected } = await database.execute(
        `UPDATE oauth_consent_requests SET outcome = 'void' WHERE id_hash IN (${placeholders(rows)}) AND outcome IS NULL`,
        rows.map((row) => row.id_hash),
      );
      return { ended: affected, last };
    },
  } satisfies Partial<Store>;
}

const NONE = { affected: 0 };
