import { type Database, getDialect, type SqlConnection } from '@portico/sql';
import type { PersonReference } from '../../person.ts';
import type { Authorization, Details, StoredGrant } from '../grant.ts';
import { goesBackTo } from '../prior-consent.ts';
import {
  changeDetails,
  AUTHORIZATION_COLUMNS,
  readDetails,
  toAuthorization,
  type AuthorizationRow,
} from './family-rows.ts';
import { conditionOfPerson, familyIndex } from './family-index.ts';
import {
  confirmRevocation,
  HAS_OPENID,
  keysWhere,
  placeholders,
  removeKeys,
  type Condition,
} from './statements.ts';

/**
 * Reads and writes authorizations (`oauth_families`). Each row contains the code, the current
 * refresh token, and the revocation.
 *
 * Every statement that issues tokens or revokes the authorization updates this row. The database
 * runs these statements one after the other. So it detects a second use of a code or token
 * (decision 29).
 */
export class AuthorizationRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Revokes all codes and tokens of the authorization, even those that another statement is issuing
   * now. Returns false if it was already revoked.
   */
  async revokeFamily(familyId: string, now: number): Promise<boolean> {
    const { affected } = await this.#database.execute(
      'UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
      [now, familyId],
    );
    return affected === 1 || this.#confirmWasRevoked(familyId);
  }

  /**
   * Revokes the authorization because its code or refresh token was used again. Returns false if
   * the refresh token is the current one after all, or if the authorization was already revoked.
   */
  async revokeReplayed({ hash, family }: StoredGrant, now: number): Promise<boolean> {
    const { affected } = await this.#database.execute(
      `UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL
          AND (refresh_hash IS NULL OR refresh_hash <> ?)`,
      [now, family.id, hash],
    );
    return affected === 1 || this.#confirmWasRevoked(family.id);
  }

  /**
   * Returns true if any authorization, even an ended one, has the scope `openid`. This server has
   * then had a signing key.
   */
  async hasOpenidFamily(): Promise<boolean> {
    const { rows } = await this.#database.execute(
      `SELECT 1 FROM oauth_families WHERE ${HAS_OPENID} LIMIT 1`,
    );
    return rows.length > 0;
  }

  /** Returns the client and person, even if the authorization has ended. */
  async findHolder(
    familyId: string,
    connection: SqlConnection = this.#database,
  ): Promise<{
    readonly clientId: string;
    readonly person: PersonReference;
    readonly details?: Details;
  } | null> {
    const { rows } = await connection.execute<HolderRow>(
      'SELECT client_id, user_provider, user_id, details FROM oauth_families WHERE id = ?',
      [familyId],
    );
    const [row] = rows;
    return row === undefined
      ? null
      : {
          clientId: row.client_id,
          person: { provider: row.user_provider, id: row.user_id },
          ...readDetails(row.details),
        };
  }

  /**
   * Returns the person's active authorizations, oldest first. Leaves out revoked clients, but
   * includes clients that the server does not accept now.
   */
  async listAuthorizations(
    person: PersonReference,
    now: number,
  ): Promise<readonly Authorization[]> {
    const { rows } = await this.#database.execute<AuthorizationRow>(
      `SELECT ${AUTHORIZATION_COLUMNS}
        FROM oauth_families f
        JOIN oauth_clients c ON c.client_id = f.client_id AND c.revoked_at IS NULL
        WHERE f.user_provider = ? AND f.user_id = ? AND f.revoked_at IS NULL AND f.expires_at > ?
        ORDER BY f.created_at, f.id`,
      [person.provider, person.id, now],
    );
    return rows.map((row) => toAuthorization(row));
  }

  /** Replaces existing details with the same names. */
  async addDetails(familyId: string, added: Details): Promise<void> {
    await this.#database.transaction((connection) =>
      changeDetails(connection, familyId, (details) => ({ ...details, ...added })),
    );
  }

  /** Makes the revocation of this person's authorizations for this client durable. */
  confirmRevoked({ provider, id }: PersonReference, clientId: string): Promise<void> {
    const ofPerson =
      'user_provider = ? AND user_id = ? AND client_id = ? AND revoked_at IS NOT NULL';
    return confirmRevocation(this.#database, 'oauth_families', ofPerson, [provider, id, clientId]);
  }

  /**
   * Revokes the person's next `limit` authorizations below `below` (null for any id), newest first.
   * Expired ones are revoked too: another process's clock may be behind.
   *
   * `goingBackTo` selects only authorizations that skipped the consent page because of an earlier
   * one, with an id up to this one.
   *
   * `living` counts those that were not revoked. `revoked` counts those of them that this call
   * revoked before their expiry. Also returns the first and last id read. The last id is null at
   * the end.
   */
  async revokeOfPerson(
    person: PersonReference,
    below: string | null,
    now: number,
    limit: number,
    goingBackTo: string | null = null,
  ): Promise<RevokedBatch> {
    const index = familyIndex({ person }, below, getDialect(this.#database));
    const { rows } = await this.#database.execute<PersonsRow>(
      `SELECT f.id, f.revoked_at, f.expires_at, f.details FROM oauth_families f
        WHERE ${index.sql} ORDER BY ${index.order} LIMIT ${limit}`,
      index.parameters,
    );
    const living = rows
      .filter((row) => row.revoked_at === null)
      .filter(
        ({ details }) =>
          goingBackTo === null || goesBackTo(goingBackTo, readDetails(details).details),
      );
    const isExpired = (row: PersonsRow) => row.expires_at <= now;
    const first = rows[0]?.id ?? null;
    const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    if (living.length === 0) return { living: 0, revoked: 0, first, last };
    // Portico repeats a transaction that the engine aborts. The engine may abort one if another
    // batch writes the same rows in another order.
    const revoked = await this.#database.transaction(async (connection) => {
      await revokeAll(connection, living.filter(isExpired), now);
      return revokeAll(
        connection,
        living.filter((row) => !isExpired(row)),
        now,
      );
    });
    return { living: living.length, revoked, first, last };
  }

  /** Makes the revocation of all of the person's authorizations durable. */
  confirmRevokedOfPerson({ provider, id }: PersonReference): Promise<void> {
    const newest =
      'id = (SELECT MAX(f.id) FROM oauth_families f WHERE f.user_provider = ? AND f.user_id = ' +
      '?)';
    return confirmRevocation(this.#database, 'oauth_families', newest, [provider, id]);
  }

  /**
   * Removes at most `limit` of the person's authorizations, with their codes and refresh tokens.
   * Their access tokens are then no longer valid. As with `prune`, `more` may be true even if no
   * rows were removed.
   */
  removeFamiliesOfPerson(
    person: PersonReference,
    limit: number,
  ): Promise<{ readonly removed: number; readonly more: boolean }> {
    return removeFamilies(
      this.#database,
      conditionOfPerson(person, getDialect(this.#database)),
      limit,
    );
  }

  /** Makes an earlier revocation durable, and returns false. */
  async #confirmWasRevoked(familyId: string): Promise<false> {
    await confirmRevocation(this.#database, 'oauth_families', 'id = ?', [familyId]);
    return false;
  }
}

export async function removeFamilies(
  database: Database,
  condition: Condition,
  limit: number,
): Promise<{ readonly removed: number; readonly more: boolean }> {
  const families = ['oauth_families', 'id'] as const;
  const ids = await keysWhere(database, families, condition, limit);
  return { removed: await removeKeys(database, families, ids, condition), more: ids.length > 0 };
}

/** Returns how many were not revoked before. */
export async function revokeAll(
  connection: SqlConnection,
  families: readonly { readonly id: string }[],
  now: number,
): Promise<number> {
  if (families.length === 0) return 0;
  const { affected } = await connection.execute(
    `UPDATE oauth_families SET revoked_at = ? WHERE id IN (${placeholders(families)}) AND ` +
      'revoked_at IS NULL',
    [now, ...families.map(({ id }) => id)],
  );
  return affected;
}

interface PersonsRow {
  readonly id: string;
  readonly revoked_at: number | null;
  readonly expires_at: number;
  readonly details: string | null;
}

interface RevokedBatch {
  readonly living: number;
  readonly revoked: number;
  readonly first: string | null;
  readonly last: string | null;
}

interface HolderRow {
  readonly client_id: string;
  readonly user_provider: string;
  readonly user_id: string;
  readonly details: string | null;
}
