import type { Database, SqlConnection, SqlParameter } from '@portico/sql';
import type { Family, NewCode } from '../grant.ts';
import type { PriorAuthorization } from '../prior-consent.ts';
import {
  claimAndInsert,
  claimThenInsert,
  type ClaimAndInsert,
  type ClaimParameters,
} from './claim.ts';
import { FAMILY_BLOCKER, familyValues, NEW_FAMILY_COLUMNS } from './family-rows.ts';
import { settleInsert } from './lost-insert.ts';

/**
 * Starts authorizations that a user approved. One transaction marks the row that the user approved,
 * for example a consent request, and inserts the authorization with its code.
 */
export class NewAuthorizations {
  readonly #database: Database;
  readonly #statements: ClaimAndInsert;

  /**
   * `claim` is the UPDATE that marks the row as approved. It must not change a row that is already
   * approved.
   */
  constructor(database: Database, claim: string) {
    this.#database = database;
    this.#statements = claimAndInsert(database, claim, 'oauth_families', NEW_FAMILY_COLUMNS);
  }

  /**
   * Runs the UPDATE with these values and inserts the authorization with its code, or does neither.
   * Returns false if the UPDATE changed no row, if a condition is not met, or if a feature has
   * blocked this authorization. For example, the session may have ended.
   *
   * Even then, the consent request in `conditions.question` may have been answered, so that a form
   * is never accepted twice.
   */
  async begin(
    claim: readonly SqlParameter[],
    { family, code }: NewAuthorization,
    now: number,
    conditions: BeginningConditions = {},
  ): Promise<boolean> {
    const added = { id: family.id, hash: code.hash };
    const { prior = null, question = null } = conditions;
    let isLost = false;
    const parameters: ClaimParameters = {
      claim,
      ...(prior === null && question === null
        ? {}
        : {
            first: async (connection) =>
              (question === null || (await answerQuestion(connection, question))) &&
              (prior === null || (await lockPrior(connection, prior, now))),
          }),
      insert: familyValues(family, code, now),
      tookEffect: () => {
        isLost = true;
        return settleInsert(this.#database, FAMILY_BLOCKER, added, now);
      },
    };
    try {
      return await claimThenInsert(this.#database, this.#statements, parameters);
    } catch (error) {
      // After a lost commit, `settleInsert` may have written the row that blocks the authorization.
      if (isLost || this.#database.isUnavailable(error)) throw error;
      if (await this.#isBlocked(family.id)) return false;
      throw error;
    }
  }

  async #isBlocked(id: string): Promise<boolean> {
    return (await this.#database.execute(FIND_BLOCKER, [id])).rows.length > 0;
  }
}

/** What must still be true when the authorization is written. */
export interface BeginningConditions {
  /**
   * An earlier authorization that must be active and still cover the new one. It cannot be revoked
   * during this transaction.
   */
  readonly prior?: PriorAuthorization | null;
  /**
   * The hash of a consent request that must still be waiting. This transaction answers it. An
   * operation that ends the user's requests either ends this one first, or finds the new
   * authorization.
   */
  readonly question?: string | null;
}

async function lockPrior(
  connection: SqlConnection,
  prior: PriorAuthorization,
  now: number,
): Promise<boolean> {
  const locked = await connection.execute(LOCK_LIVING, [prior.id, now]);
  return locked.affected === 1 && prior.applies(connection);
}

async function answerQuestion(connection: SqlConnection, idHash: string): Promise<boolean> {
  return (await connection.execute(ANSWER_QUESTION, [idHash])).affected === 1;
}

/** Finds a row of `FAMILY_BLOCKER`. Only such a row has no client. */
const FIND_BLOCKER = "SELECT 1 FROM oauth_families WHERE id = ? AND client_id = ''";

const ANSWER_QUESTION = `UPDATE oauth_consent_requests SET outcome = 'allowed'
  WHERE id_hash = ? AND outcome IS NULL`;

/**
 * Locks the earlier authorization with a write. A read takes no lock on some engines, and fixes a
 * snapshot on others. The write must change a value: Galera detects conflicts between nodes only by
 * changed rows. It only keeps the row one millisecond longer.
 */
const LOCK_LIVING = `UPDATE oauth_families SET prune_after = prune_after + 1
  WHERE id = ? AND revoked_at IS NULL AND expires_at > ?`;

/** A new authorization, with the code for its first tokens. */
export interface NewAuthorization {
  readonly family: Family;
  readonly code: NewCode;
}
