import type { Database } from '@portico/sql';

/** The minimum time that the server stores a completed sign-in, in milliseconds (ninety days). */
const KEPT = 90 * 86_400_000;
/** The time until a sign-in or session is checked again, in milliseconds (seven days). */
const LOOK_AGAIN = 7 * 86_400_000;
/**
 * The minimum time that an authorization with tokens is stored after it began, in milliseconds. The
 * server removes an authorization no earlier than an hour after its end.
 */
const STORED = 3_000_000;

/** The sign-ins at clients, with their authorizations. */
const OLD_CLIENTS = `SELECT t.family_id AS found, t.created_at, f.id AS family_id,
    f.refresh_generation AS issued
  FROM oauth_session_clients t LEFT JOIN oauth_families f ON f.id = t.family_id
  WHERE t.prune_after < ? ORDER BY t.prune_after LIMIT `;
const OLD_SESSIONS = `SELECT t.session_hash AS found,
    (SELECT COUNT(*) FROM oauth_session_clients c WHERE c.session_hash = t.session_hash) AS used
  FROM oauth_sessions t WHERE t.prune_after < ? ORDER BY t.prune_after LIMIT `;

interface OldClient {
  readonly found: string;
  readonly created_at: number;
  /** Null if the authorization is not stored. */
  readonly family_id: string | null;
  /** How many times the client got tokens. Null if the client never got tokens. */
  readonly issued: number | null;
}

interface OldSession {
  readonly found: string;
  readonly used: number;
}

/** An old row. `until` is the time of its next check, or null if the row can be removed. */
interface Row {
  readonly key: string;
  readonly until: number | null;
}

/**
 * Removes at most `limit` records of each kind, and returns the number of removed records:
 *
 * - sign-ins that were not completed
 * - sign-ins whose authorization no longer exists after ninety days
 * - sessions without sign-ins
 */
export async function pruneSignIns(
  database: Database,
  now: number,
  limit: number,
): Promise<number> {
  const clients = await database.execute<OldClient>(`${OLD_CLIENTS}${limit}`, [now]);
  const oldClients = clients.rows.map((row) => ({ key: row.found, until: keptUntil(row, now) }));
  const removed = await prune(database, 'oauth_session_clients', 'family_id', oldClients, now);
  const sessions = await database.execute<OldSession>(`${OLD_SESSIONS}${limit}`, [now]);
  const oldSessions = sessions.rows.map(({ found, used }) => ({
    key: found,
    until: used > 0 ? now + LOOK_AGAIN : null,
  }));
  return removed + (await prune(database, 'oauth_sessions', 'session_hash', oldSessions, now));
}

/**
 * Returns when to check a sign-in again. Returns null if no client needs a notification about this
 * sign-in.
 */
function keptUntil(
  { created_at: createdAt, family_id: familyId, issued }: OldClient,
  now: number,
): number | null {
  const isStored = familyId !== null;
  if (now >= createdAt + KEPT) return isStored ? now + LOOK_AGAIN : null;
  // A client without tokens has no `sid` and needs no notification.
  const isUnused = isStored ? issued === null : now < createdAt + STORED;
  return isUnused ? null : createdAt + KEPT;
}

/**
 * Removes the rows whose `until` is null, and stores `until` in the other rows. Skips rows that
 * another process has changed since this process read them.
 */
async function prune(
  database: Database,
  table: string,
  keyColumn: string,
  rows: readonly Row[],
  now: number,
): Promise<number> {
  const which = `WHERE ${keyColumn} = ? AND prune_after < ?`;
  let removed = 0;
  for (const { key, until } of rows) {
    if (until === null)
      removed += (await database.execute(`DELETE FROM ${table} ${which}`, [key, now])).affected;
    else await database.execute(`UPDATE ${table} SET prune_after = ? ${which}`, [until, key, now]);
  }
  return removed;
}
