import type { Database } from '@portico/sql';
import type { Batch } from '../../store/batches.ts';

/**
 * How long the record of a completed sign-in is kept at least, in milliseconds (ninety days). It is
 * deleted sooner if the session ends.
 */
const KEPT = 90 * 86_400_000;
/** The time between two checks of a sign-in or session, in milliseconds (seven days). */
const LOOK_AGAIN = 7 * 86_400_000;
/**
 * How long an authorization with tokens stays in the store at least, in milliseconds. The server
 * removes an authorization no earlier than an hour after it ended.
 */
export const STORED = 3_000_000;

/** Sign-ins to clients that must be checked, with their authorizations. */
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
  /** Null if the authorization is not in the store. */
  readonly family_id: string | null;
  /** How many times the client received tokens, or null. */
  readonly issued: number | null;
}

interface OldSession {
  readonly found: string;
  readonly used: number;
}

/** `until` is the time of the next check. Null if the row can be removed. */
interface Row {
  readonly key: string;
  readonly until: number | null;
}

/**
 * Checks at most `limit` records of each of these kinds, and returns how many records it has
 * removed, and whether it must check more:
 *
 * - sign-ins that were never completed
 * - sign-ins that are older than ninety days and whose authorization no longer exists
 * - sessions without sign-ins
 */
export async function pruneSignIns(database: Database, now: number, limit: number): Promise<Batch> {
  const clients = await database.execute<OldClient>(`${OLD_CLIENTS}${limit}`, [now]);
  const oldClients = clients.rows.map((row) => ({ key: row.found, until: keptUntil(row, now) }));
  const removed = await prune(database, 'oauth_session_clients', 'family_id', oldClients, now);
  const sessions = await database.execute<OldSession>(`${OLD_SESSIONS}${limit}`, [now]);
  const oldSessions = sessions.rows.map(({ found, used }) => ({
    key: found,
    until: used > 0 ? now + LOOK_AGAIN : null,
  }));
  const count =
    removed + (await prune(database, 'oauth_sessions', 'session_hash', oldSessions, now));
  // Count the records found, not the records removed. Some may stay, and another process may remove
  // others.
  const more = [oldClients, oldSessions].some(({ length }) => length === limit);
  return { count, more };
}

/**
 * Returns when to check the sign-in again. Returns null if the record can be removed, because no
 * client needs a notification about this sign-in.
 */
function keptUntil(
  { created_at: createdAt, family_id: familyId, issued }: OldClient,
  now: number,
): number | null {
  const isStored = familyId !== null;
  if (now >= createdAt + KEPT) return isStored ? now + LOOK_AGAIN : null;
  // A client that has received no tokens has no `sid`, so it needs no notification.
  const isUnused = isStored ? issued === null : now < createdAt + STORED;
  return isUnused ? null : createdAt + KEPT;
}

/**
 * Removes the rows whose `until` is null, and stores `until` in the others. Skips rows that another
 * process has changed.
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
