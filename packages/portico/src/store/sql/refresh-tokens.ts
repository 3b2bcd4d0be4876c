import { type Database, getDialect } from '@portico/sql';
import type {
  GrantOutcome,
  KeptAnswer,
  NewTokens,
  OfferedRefreshToken,
  RefreshToken,
  StoredGrant,
} from '../grant.ts';
import type { AuthorizationRecords } from './authorizations.ts';
import type { ClaimAndInsert } from './claim.ts';
import {
  findGrantRow,
  hasMark,
  refreshState,
  SET_REFRESH_STATE,
  toRefreshToken,
} from './family-rows.ts';
import { issueTokens, usingGrant, type GrantUse } from './issue-tokens.ts';

/** Reads and writes current refresh tokens, in columns of `oauth_families`. */
export class RefreshTokenRecords {
  readonly #database: Database;
  readonly #authorizations: AuthorizationRecords;
  readonly #use: ClaimAndInsert;
  readonly #useAndKeep: ClaimAndInsert;

  constructor(database: Database, authorizations: AuthorizationRecords) {
    this.#database = database;
    this.#authorizations = authorizations;
    this.#use = usingGrant(database, USE_REFRESH_TOKEN);
    this.#useAndKeep = usingGrant(database, USE_AND_KEEP);
  }

  /**
   * Returns the refresh token, even if it was used. Only the authorization's own refresh tokens
   * contain its mark. So a token with this mark that is not the current one was used.
   */
  async findRefreshToken(offered: OfferedRefreshToken): Promise<RefreshToken | null> {
    const row = await findGrantRow(this.#database, offered);
    return row === undefined || !hasMark(row, offered) ? null : toRefreshToken(row, offered);
  }

  /**
   * Marks the token as used and issues new tokens, or does neither. A second use revokes the
   * authorization.
   *
   * `sealed` is an encrypted response that replaces the stored one. With it, a second use returns
   * `taken` and revokes nothing.
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
            statements: this.#use,
            claim: [...state, id, token.hash],
            otherwise: async () =>
              (await this.#authorizations.revokeFamily(id, now)) ? 'used' : 'revoked',
          }
        : {
            statements: this.#useAndKeep,
            claim: [...state, sealed, now, id, token.hash],
            otherwise: () => Promise.resolve('taken'),
          };
    return issueTokens(this.#database, use, token, tokens, now);
  }

  /**
   * Returns the response to the last refresh, after making sure that the refresh is durable.
   * Returns null if no response is stored, or if the authorization is revoked (decision 37).
   */
  async findKeptAnswer(familyId: string): Promise<KeptAnswer | null> {
    const statement = getDialect(this.#database).readsAreForGood
      ? READ_ANSWER
      : READ_ANSWER_BY_WRITING;
    const { rows } = await this.#database.execute<AnswerRow>(statement, [familyId]);
    const [row] = rows;
    return row === undefined || row.refresh_answer === null
      ? null
      : toKeptAnswer(row, row.refresh_answer);
  }
}

const USE_REFRESH_TOKEN =
  `UPDATE oauth_families SET ${SET_REFRESH_STATE} WHERE id = ? AND refresh_hash = ? AND ` +
  'revoked_at IS NULL';

const USE_AND_KEEP = `UPDATE oauth_families SET ${SET_REFRESH_STATE}, refresh_answer = ?, refresh_used_at = ?
  WHERE id = ? AND refresh_hash = ? AND revoked_at IS NULL`;

const ANSWER_COLUMNS =
  'refresh_answer, refresh_used_at, refresh_generation, refresh_hash, refresh_expires_at';

const READ_ANSWER = `SELECT ${ANSWER_COLUMNS} FROM oauth_families WHERE id = ? AND revoked_at IS NULL`;

/**
 * Reads the response with an UPDATE. The database confirms an UPDATE only after its standbys have
 * it. A failover can then not lose the refresh that issued these tokens.
 */
const READ_ANSWER_BY_WRITING =
  'UPDATE oauth_families SET revoked_at = revoked_at WHERE id = ? AND revoked_at IS NULL ' +
  `RETURNING ${ANSWER_COLUMNS}`;

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
