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
   * blocked this authorization, for example because the session has ended. Even then, the consent
   * request in `conditions.question` may have been answered, so that a form is never accepted
   * twice.
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
      // After a lost commit, the row that blocks the authorization may come from `settleInsert`.
      if (isLost || this.#database.isUnavailable(error)) throw error;
      if (await this.#isBlocked(family.id)) return false;
      throw error;
    }
  }

  /** Whether the row of this authorization only blocks its insert. */
  async #isBlocked(id: string): Promise<boolean> {
    return (await this.#database.execute(FIND_BLOCKER, [id])).rows.length > 0;
  }
}

/** The conditions that must still be met when the authorization is written. */
export interface BeginningConditions {
  /**
   * An earlier authorization that must be active and still cover the new authorization. The earlier
   * authorization cannot be revoked during this transaction.
   */
  readonly prior?: PriorAuthorization | null;
  /**
   * The hash of a stored consent request that must still be waiting. This transaction answers it.
   * An operation that ends the user's requests therefore either ends this request first, or finds
   * the new authorization.
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

/** Finds a row that `FAMILY_BLOCKER` describes. Only such a row has no client. */
const FIND_BLOCKER = "SELECT 1 FROM oauth_families WHERE id = ? AND client_id = ''";

const ANSWER_QUESTION = `UPDATE oauth_consent_requests SET outcome = 'allowed'
  WHERE id_hash = ? AND outcome IS NULL`;

/**
 * Locks the earlier authorization with a write. A read is not enough: on some engines a read takes
 * no lock, and on others it fixes a snapshot. The write must change a value, because Galera detects
 * conflicts between nodes only by changed rows. The new value keeps the row one millisecond longer
 * and changes nothing else.
 */
const LOCK_LIVING = `UPDATE oauth_families SET prune_after = prune_after + 1
  WHERE id = ? AND revoked_at IS NULL AND expires_at > ?`;

/** A new authorization, with the code for its first tokens. */
export interface NewAuthorization {
  readonly family: Family;
  readonly code: NewCode;
}
