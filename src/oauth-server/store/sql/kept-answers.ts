import type { Database, SqlDialect } from '../../../sql/contract.ts';
import type { KeptAnswer } from '../grant.ts';
import type { Store } from '../store.ts';

/** What `oauth_families` keeps of the last use of each refresh token (decision 37). */
export function keptAnswers(database: Database) {
  return {
    async findKeptAnswer(familyId) {
      const { rows } = await database.execute<KeptRow>(FIND[database.dialect], [familyId]);
      const [row] = rows;
      return row === undefined || row.refresh_answer === null ? null : toKeptAnswer(row, row.refresh_answer);
    },
  } satisfies Partial<Store>;
}

const COLUMNS = 'refresh_answer, refresh_used_at, refresh_generation, refresh_hash, refresh_expires_at';

const READ = `SELECT ${COLUMNS} FROM oauth_families WHERE id = ? AND revoked_at IS NULL`;

/**
 * On PostgreSQL by writing, which waits for its standbys: a primary that was restarted shows also what none of them has, and an
 * answer of that would be lost with it. Elsewhere what is read is for good as far as the engine knows.
 */
const FIND: Readonly<Record<SqlDialect, string>> = {
  sqlite: READ,
  postgres: `UPDATE oauth_families SET revoked_at = revoked_at WHERE id = ? AND revoked_at IS NULL RETURNING ${COLUMNS}`,
  mysql: READ,
};

interface KeptRow {
  readonly refresh_answer: string | null;
  readonly refresh_used_at: number | null;
  readonly refresh_generation: number | null;
  readonly refresh_hash: string | null;
  readonly refresh_expires_at: number | null;
}

function toKeptAnswer(row: KeptRow, sealed: string): KeptAnswer {
  return {
    sealed,
    generation: row.refresh_generation ?? 0,
    usedAt: row.refresh_used_at ?? 0,
    currentHash: row.refresh_hash ?? '',
    expiresAt: row.refresh_expires_at ?? 0,
  };
}
