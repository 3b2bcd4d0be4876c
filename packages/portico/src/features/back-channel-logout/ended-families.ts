import type { Database, SqlConnection } from '@portico/sql';
import type { PersonReference } from '../../person.ts';
import { changeDetails, FAMILY_BLOCKER } from '../../store/sql/family-rows.ts';
import { blockInsert } from '../../store/sql/lost-insert.ts';
import { placeholders } from '../../store/sql/statements.ts';
import { STORED } from './old-sign-ins.ts';

/** An authorization that the caller's transaction may end. */
export interface EndingFamily {
  readonly familyId: string;
  /** True if the authorization ends only when its client has never received tokens. */
  readonly keepsAccess: boolean;
  /** When the request for the authorization began, in milliseconds since 1970. */
  readonly createdAt: number;
}

export interface EndedFamilies {
  /** The authorizations that this call revoked. */
  readonly revoked: readonly {
    readonly authorization: string;
    readonly clientId: string;
    readonly person: PersonReference;
  }[];
  /** The ids of authorizations whose clients never received tokens and can no longer get any. */
  readonly unused: ReadonlySet<string>;
}

/** How many rows one statement reads or writes at most. */
const BATCH = 100;
/** How long after `createdAt` a running request can store its authorization, in milliseconds. */
const MAY_BEGIN = 600_000;

/**
 * Revokes authorizations in the caller's transaction. For one that is not stored yet, inserts a row
 * with its key, so a running request can no longer store it. Removes `detail` from authorizations
 * that stay active.
 */
export async function endFamilies(
  { connection, database }: { readonly connection: SqlConnection; readonly database: Database },
  families: readonly EndingFamily[],
  detail: string,
  now: number,
): Promise<EndedFamilies> {
  const revoked = [];
  const unused = new Set<string>();
  for (let from = 0; from < families.length; from += BATCH) {
    const batch = families.slice(from, from + BATCH);
    for (const { familyId, createdAt } of batch)
      if (createdAt > now - MAY_BEGIN)
        await blockInsert({ connection, database }, FAMILY_BLOCKER, familyId, now);
    const living = await livingOf(connection, batch);
    await revoke(
      connection,
      batch.filter(({ keepsAccess }) => !keepsAccess),
      '',
      now,
    );
    const kept = batch.filter(({ keepsAccess }) => keepsAccess);
    await revoke(connection, kept, 'AND refresh_generation IS NULL', now);
    const ids = batch.map(({ familyId }) => familyId);
    const { rows } = await connection.execute<Row>(
      `${FIND} WHERE id IN (${placeholders(ids)})`,
      ids,
    );
    const found = new Set(rows.map(({ id }) => id));
    for (const { familyId, createdAt } of batch)
      if (!found.has(familyId) && createdAt > now - STORED) unused.add(familyId);
    for (const row of rows) {
      const { id, client_id: clientId, user_provider: provider, user_id: user } = row;
      if (row.refresh_generation === null) unused.add(id);
      if (row.revoked_at === null) await forgetDetail(connection, id, detail);
      if (row.revoked_at === null || !living.has(id)) continue;
      revoked.push({ authorization: id, clientId, person: { provider, id: user } });
    }
  }
  return { revoked, unused };
}

const FIND =
  'SELECT id, client_id, user_provider, user_id, refresh_generation, revoked_at ' +
  'FROM oauth_families';

interface Row {
  readonly id: string;
  readonly client_id: string;
  readonly user_provider: string;
  readonly user_id: string;
  /** How many times tokens were issued, or null. */
  readonly refresh_generation: number | null;
  readonly revoked_at: number | null;
}

function forgetDetail(connection: SqlConnection, id: string, detail: string): Promise<void> {
  return changeDetails(connection, id, (details) =>
    Object.fromEntries(Object.entries(details).filter(([name]) => name !== detail)),
  );
}

async function livingOf(
  connection: SqlConnection,
  families: readonly EndingFamily[],
): Promise<ReadonlySet<string>> {
  const ids = families.map(({ familyId }) => familyId);
  const { rows } = await connection.execute<{ id: string }>(
    `SELECT id FROM oauth_families WHERE id IN (${placeholders(ids)}) AND revoked_at IS NULL`,
    ids,
  );
  return new Set(rows.map(({ id }) => id));
}

async function revoke(
  connection: SqlConnection,
  families: readonly EndingFamily[],
  condition: string,
  now: number,
): Promise<void> {
  if (families.length === 0) return;
  const ids = families.map(({ familyId }) => familyId);
  await connection.execute(
    `UPDATE oauth_families SET revoked_at = ?
      WHERE id IN (${placeholders(ids)}) AND revoked_at IS NULL ${condition}`,
    [now, ...ids],
  );
}
