import type { Database, SqlParameter } from '@portico/sql';
import type { Family, NewCode } from '../grant.ts';
import { claimAndInsert, claimThenInsert, type ClaimAndInsert } from './claim.ts';
import { FAMILY_BLOCKER, familyValues, NEW_FAMILY_COLUMNS } from './family-rows.ts';
import { settleInsert } from './lost-insert.ts';

/**
 * Begins authorizations that a person approved. An UPDATE claims the approved row, such as a
 * consent request. The authorization and its code are inserted in the same transaction.
 */
export class NewAuthorizations {
  readonly #database: Database;
  readonly #statements: ClaimAndInsert;

  /** `claim` is an UPDATE that changes the row only if it is not approved yet. */
  constructor(database: Database, claim: string) {
    this.#database = database;
    this.#statements = claimAndInsert(database, claim, 'oauth_families', NEW_FAMILY_COLUMNS);
  }

  /**
   * Claims the row with these values and begins the authorization, both or neither. Returns false
   * if there was no row to claim.
   */
  begin(
    claim: readonly SqlParameter[],
    { family, code }: NewAuthorization,
    now: number,
  ): Promise<boolean> {
    const added = { id: family.id, hash: code.hash };
    return claimThenInsert(this.#database, this.#statements, {
      claim,
      insert: familyValues(family, code, now),
      tookEffect: () => settleInsert(this.#database, FAMILY_BLOCKER, added, now),
    });
  }
}

/** An authorization that does not exist yet, with the code that its first tokens are issued for. */
export interface NewAuthorization {
  readonly family: Family;
  readonly code: NewCode;
}
