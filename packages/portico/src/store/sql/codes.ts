import type { Database } from '@portico/sql';
import { equalInConstantTime } from '../../http/constant-time.ts';
import type {
  AuthorizationCode,
  CodeReplacement,
  Family,
  GrantOutcome,
  GrantRefusal,
  NewCode,
  NewTokens,
  OfferedToken,
  SecondCodeUse,
  StoredGrant,
} from '../grant.ts';
import type { ClaimAndInsert } from './claim.ts';
import { findGrantRow, refreshState, SET_REFRESH_STATE, toCode } from './family-rows.ts';
import { issueTokens, usingGrant } from './issue-tokens.ts';
import { confirmRevocation } from './statements.ts';

/**
 * Reads and writes authorization codes, which are columns of `oauth_families`. `NewAuthorizations`
 * inserts them.
 */
export class CodeRecords {
  readonly #database: Database;
  readonly #spend: ClaimAndInsert;

  constructor(database: Database) {
    this.#database = database;
    this.#spend = usingGrant(database, SPEND_CODE);
  }

  /** Returns the code, even if it was used. */
  async findCode(offered: OfferedToken): Promise<AuthorizationCode | null> {
    const row = await findGrantRow(this.#database, offered);
    if (row === undefined || !equalInConstantTime(row.code_hash ?? '', offered.hash)) return null;
    return toCode(row, offered);
  }

  /**
   * Marks the code as used and issues the tokens, or does neither. A second use revokes the
   * authorization, unless `secondUse` is `refused`.
   */
  spendCode(
    code: StoredGrant,
    tokens: NewTokens,
    now: number,
    secondUse: SecondCodeUse = 'revokes',
  ): Promise<GrantOutcome> {
    const use = {
      statements: this.#spend,
      claim: [now, ...refreshState(tokens, now), code.family.id, code.hash],
      otherwise: async () =>
        secondUse === 'revokes' ? this.#revokeUnlessReplaced(code, now) : ('taken' as const),
    };
    return issueTokens(this.#database, use, code, tokens, now);
  }

  /**
   * Marks the code as used without tokens, for a request that does not match the code. If its own
   * client sends a used code, revokes the authorization. Returns true if this call revoked it.
   */
  async burnCode(code: StoredGrant, offeredBy: string, now: number): Promise<boolean> {
    const { hash, family } = code;
    const { affected } = await this.#database.execute(BURN_CODE, [now, family.id, hash]);
    if (affected === 1 || offeredBy !== family.clientId) return false;
    return (await this.#revokeUnlessReplaced(code, now)) === 'used';
  }

  /**
   * Replaces an unused code, so that only the new one is valid. The authorization must match the
   * stored row.
   */
  async replaceCode(
    { id, clientId, person, scopes }: ReplacedFamily,
    { hash, expiresAt }: ReplacingCode,
  ): Promise<CodeReplacement> {
    const replace = async (committed?: () => Promise<boolean>) => {
      const set = [hash, expiresAt, expiresAt, expiresAt];
      const which = [id, clientId, person.provider, person.id, scopes.join(' ')];
      const values = [...set, ...which];
      const { affected } = await this.#database.execute(REPLACE_CODE, values, committed);
      return affected === 1;
    };
    // If the response was lost, run the statement again. This is safe: the client does not have the
    // new code yet.
    if (await replace(() => replace())) return 'replaced';
    const row = await this.#findState(id);
    return row?.revoked_at === null && row.code_spent_at !== null ? 'used' : 'ended';
  }

  /**
   * Revokes the authorization, unless a new code has replaced this one. Returns why no tokens were
   * issued.
   */
  async #revokeUnlessReplaced({ family, hash }: StoredGrant, now: number): Promise<GrantRefusal> {
    const { affected } = await this.#database.execute(REVOKE_BY_CODE, [now, family.id, hash]);
    if (affected === 1) return 'used';
    const row = await this.#findState(family.id);
    if (row?.revoked_at === null && row.code_hash !== hash) return 'replaced';
    await confirmRevocation(this.#database, 'oauth_families', 'id = ?', [family.id]);
    return 'revoked';
  }

  async #findState(familyId: string): Promise<StateRow | undefined> {
    const { rows } = await this.#database.execute<StateRow>(FIND_STATE, [familyId]);
    return rows[0];
  }
}

type ReplacedFamily = Pick<Family, 'id' | 'clientId' | 'person' | 'scopes'>;
type ReplacingCode = Pick<NewCode, 'hash' | 'expiresAt'>;

const SPEND_CODE = `UPDATE oauth_families SET code_spent_at = ?, code_parameters = NULL, ${SET_REFRESH_STATE}
  WHERE id = ? AND code_hash = ? AND code_spent_at IS NULL AND revoked_at IS NULL`;

const BURN_CODE = `UPDATE oauth_families SET code_spent_at = ?, code_parameters = NULL
  WHERE id = ? AND code_hash = ? AND code_spent_at IS NULL`;

/** Of two simultaneous calls, only the later one's code is valid. */
const REPLACE_CODE = `UPDATE oauth_families SET code_hash = ?, code_expires_at = ?, expires_at = ?, prune_after = ?
  WHERE id = ? AND client_id = ? AND user_provider = ? AND user_id = ? AND scope = ?
    AND code_spent_at IS NULL AND revoked_at IS NULL`;

const REVOKE_BY_CODE =
  'UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND code_hash = ? AND revoked_at IS NULL';

const FIND_STATE = 'SELECT code_hash, code_spent_at, revoked_at FROM oauth_families WHERE id = ?';

interface StateRow {
  readonly code_hash: string | null;
  readonly code_spent_at: number | null;
  readonly revoked_at: number | null;
}
