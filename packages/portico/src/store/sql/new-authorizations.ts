import type { Database, SqlParameter } from '@portico/sql';
import type { Family, NewCode } from '../grant.ts';
import type { PriorAuthorization } from '../prior-consent.ts';
import { claimAndInsert, claimThenInsert, type ClaimAndInsert } from './claim.ts';
import { FAMILY_BLOCKER, familyValues, NEW_FAMILY_COLUMNS } from './family-rows.ts';
import { settleInsert } from './lost-insert.ts';

/**
 * Starts authorizations that a person approved. An UPDATE marks the approved row, for example a
 * consent request. The same transaction inserts the authorization and its code.
 */
export class NewAuthorizations {
  readonly #database: Database;
  readonly #statements: ClaimAndInsert;

  /** `claim` is an UPDATE that changes the row only if the row is not approved yet. */
  constructor(database: Database, claim: string) {
    this.#database = database;
    this.#statements = claimAndInsert(database, claim, 'oauth_families', NEW_FAMILY_COLUMNS);
  }

  /**
   * Runs the UPDATE with these values and inserts the authorization. Does both or neither. Returns
   * false if the UPDATE changed no row. `prior` is an earlier authorization that must be active and
   * still cover the new one. It cannot be revoked during this transaction.
   */
  begin(
    claim: readonly SqlParameter[],
    { family, code }: NewAuthorization,
    now: number,
    prior: PriorAuthorization | null = null,
  ): Promise<boolean> {
    const added = { id: family.id, hash: code.hash };
    return claimThenInsert(this.#database, this.#statements, {
      claim,
      ...(prior === null
        ? {}
        : {
            first: async (connection) => {
              const locked = await connection.execute(LOCK_LIVING, [prior.id, now]);
              return locked.affected === 1 && prior.applies(connection);
            },
          }),
      insert: familyValues(family, code, now),
      tookEffect: () => settleInsert(this.#database, FAMILY_BLOCKER, added, now),
    });
  }
}

/**
 * Locks the earlier authorization with a write, because a read takes no lock, or fixes a snapshot.
 * The write must change the row, because locks do not reach other nodes of Galera, and only changed
 * rows conflict there. The only effect is that the row stays a millisecond longer.
 */
const LOCK_LIVING = `UPDATE oauth_families SET prune_after = prune_after + 1
  WHERE id = ? AND revoked_at IS NULL AND expires_at > ?`;

/** A new authorization, with the code for its first tokens. */
export interface NewAuthorization {
  readonly family: Family;
  readonly code: NewCode;
}
