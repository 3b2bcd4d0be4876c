import type { Database } from '@portico/sql';

/** How long a completed sign-in is remembered at least, in milliseconds: ninety days. */
const KEPT = 90 * 86_400_000;
/** After this time, the authorization of a remembered sign-in is looked up again. */
const LOOK_AGAIN = 7 * 86_400_000;
/**
 * An authorization with tokens is certainly stored for this time after it began, in milliseconds:
 * it is only removed an hour after its end.
 */
const STORED = 3_000_000;

/** A table of old rows, and the statement that finds them. */
interface Pruned {
  readonly table: string;
  readonly key: string;
  readonly old: string;
}

const CLIENTS: Pruned = {
  table: 'oauth_session_clients',
  key: 'family_id',
  old: `SELECT t.family_id AS found, t.created_at, f.id AS family_id, f.refresh_generation AS issued
  FROM oauth_session_clients t LEFT JOIN oauth_families f ON f.id = t.family_id
  WHERE t.prune_after < ?`,
};
const SESSIONS: Pruned = {
  table: 'oauth_sessions',
  key: 'session_hash',
  old: `SELECT t.session_hash AS found,
    (SELECT COUNT(*) FROM oauth_session_clients c WHERE c.session_hash = t.session_hash) AS used
  FROM oauth_sessions t WHERE t.prune_after < ?`,
};

interface OldClient {
  readonly found: string;
  readonly created_at: number;
  /** Null if the authorization is not stored. */
  readonly family_id: string | null;
  /** How often tokens were issued. Null for never. */
  readonly issued: number | null;
}

interface OldSession {
  readonly found: string;
  readonly used: number;
}

/**
 * Removes at most `limit` records of each kind: sign-ins that were not completed, or whose
 * authorization no longer exists after ninety days, and sessions without sign-ins. Returns how
 * many it removed.
 */
export async function pruneSignIns(
  database: Database,
  now: number,
  limit: number,
): Promise<number> {
  const clients = await prune<OldClient>(database, CLIENTS, [now, limit], (row) =>
    keptUntil(row, now),
  );
  const sessions = await prune<OldSession>(database, SESSIONS, [now, limit], ({ used }) =>
    Number(used) > 0 ? now + LOOK_AGAIN : null,
  );
  return clients + sessions;
}

/** Returns when to look at a sign-in again. Null if no client needs to be told any more. */
function keptUntil(row: OldClient, now: number): number | null {
  const createdAt = Number(row.created_at);
  const isStored = row.family_id !== null;
  if (now >= createdAt + KEPT) return isStored ? now + LOOK_AGAIN : null;
  // A client without tokens knows no session.
  const isUnused = isStored ? row.issued === null : now < createdAt + STORED;
  return isUnused ? null : createdAt + KEPT;
}

/** Removes old rows that are of no use, and looks again later at the others. */
async function prune<Row extends { readonly found: string }>(
  database: Database,
  { table, key, old }: Pruned,
  [now, limit]: readonly [now: number, limit: number],
  until: (row: Row) => number | null,
): Promise<number> {
  const { rows } = await database.execute<Row & Record<string, unknown>>(
    `${old} ORDER BY t.prune_after LIMIT ${limit}`,
    [now],
  );
  let removed = 0;
  for (const row of rows) {
    const again = until(row);
    const which = `WHERE ${key} = ? AND prune_after < ?`;
    if (again === null) {
      const statement = `DELETE FROM ${table} ${which}`;
      removed += (await database.execute(statement, [row.found, now])).affected;
    } else {
      const statement = `UPDATE ${table} SET prune_after = ? ${which}`;
      await database.execute(statement, [again, row.found, now]);
    }
  }
  return removed;
}
