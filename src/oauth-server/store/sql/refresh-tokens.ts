import type { Database, SqlDialect } from '../../../sql/contract.ts';
import type {
  GrantOutcome,
  KeptAnswer,
  NewTokens,
  OfferedRefreshToken,
  RefreshToken,
  StoredGrant,
} from '../grant.ts';
import { ACCESS_TOKEN_COLUMNS } from './access-tokens.ts';
import type { AuthorizationRecords } from './authorizations.ts';
import { claimAndInsert } from './claim.ts';
import { findGrantRow, hasMark, refreshState, SET_REFRESH_STATE, toRefreshToken } from './family-rows.ts';
import { issueTokens, type GrantUse } from './issue-tokens.ts';

/** The current refresh token of each authorization: columns of `oauth_families`. */
export class RefreshTokenRecords {
  readonly #database: Database;
  readonly #authorizations: AuthorizationRecords;

  constructor(database: Database, authorizations: AuthorizationRecords) {
    this.#database = database;
    this.#authorizations = authorizations;
  }

  /**
   * The refresh token, used or not; null when it is unknown. One that has the mark of its family and is not the current one was
   * used before: the mark leaves the server in refresh tokens alone.
   */
  async findRefreshToken(offered: OfferedRefreshToken): Promise<RefreshToken | null> {
    const row = await findGrantRow(this.#database, offered);
    return row === undefined || !hasMark(row, offered) ? null : toRefreshToken(row, offered);
  }

  /**
   * Uses the token and issues its successors, both or neither. One that was used before revokes the family. With an answer to keep,
   * sealed, it keeps that in place of the one before, and revokes nothing: the refusal is `taken`.
   */
  rotateRefreshToken(
    token: StoredGrant,
    tokens: NewTokens,
    now: number,
    sealed: string | null = null,
  ): Promise<GrantOutcome> {
    const { id } = token.family;
    const state = refreshState(tokens, now);
    const use: GrantUse =
      sealed === null
        ? {
            statements: USE_REFRESH_TOKEN,
            claim: [...state, id, token.hash],
            otherwise: async () => ((await this.#authorizations.revokeFamily(id, now)) ? 'used' : 'revoked'),
          }
        : {
            statements: USE_AND_KEEP,
            claim: [...state, sealed, now, id, token.hash],
            otherwise: () => Promise.resolve('taken'),
          };
    return issueTokens(this.#database, use, token, tokens, now);
  }

  /**
   * What the family keeps of the last use of its refresh token, once that use is for good; null when it keeps nothing, or is
   * revoked (decision 37).
   */
  async findKeptAnswer(familyId: string): Promise<KeptAnswer | null> {
    const statement = FIND_ANSWER[this.#database.dialect];
    const { rows } = await this.#database.execute<AnswerRow>(statement, [familyId]);
    const [row] = rows;
    return row === undefined || row.refresh_answer === null ? null : toKeptAnswer(row, row.refresh_answer);
  }
}

const USE_REFRESH_TOKEN = claimAndInsert(
  `UPDATE oauth_families SET ${SET_REFRESH_STATE} WHERE id = ? AND refresh_hash = ? AND revoked_at IS NULL`,
  'oauth_access_tokens',
  ACCESS_TOKEN_COLUMNS,
);

const USE_AND_KEEP = claimAndInsert(
  `UPDATE oauth_families SET ${SET_REFRESH_STATE}, refresh_answer = ?, refresh_used_at = ?
  WHERE id = ? AND refresh_hash = ? AND revoked_at IS NULL`,
  'oauth_access_tokens',
  ACCESS_TOKEN_COLUMNS,
);

const ANSWER_COLUMNS =
  'refresh_answer, refresh_used_at, refresh_generation, refresh_hash, refresh_expires_at';

const READ_ANSWER = `SELECT ${ANSWER_COLUMNS} FROM oauth_families WHERE id = ? AND revoked_at IS NULL`;

/**
 * On PostgreSQL by writing, which waits for its standbys: a primary that was restarted shows also what none of them has, and an
 * answer of that would be lost with it. Elsewhere what is read is for good as far as the engine knows.
 */
const FIND_ANSWER: Readonly<Record<SqlDialect, string>> = {
  sqlite: READ_ANSWER,
  postgres: `UPDATE oauth_families SET revoked_at = revoked_at WHERE id = ? AND revoked_at IS NULL RETURNING ${ANSWER_COLUMNS}`,
  mysql: READ_ANSWER,
};

interface AnswerRow {
  readonly refresh_answer: string | null;
  readonly refresh_used_at: number | null;
  readonly refresh_generation: number | null;
  readonly refresh_hash: string | null;
  readonly refresh_expires_at: number | null;
}

function toKeptAnswer(row: AnswerRow, sealed: string): KeptAnswer {
  return {
    sealed,
    generation: row.refresh_generation ?? 0,
    usedAt: row.refresh_used_at ?? 0,
    currentHash: row.refresh_hash ?? '',
    expiresAt: row.refresh_expires_at ?? 0,
  };
}
