import type { Database, SqlParameter } from '@portico/sql';
import type { GrantOutcome, GrantRefusal, NewTokens, StoredGrant } from '../grant.ts';
import { ACCESS_TOKEN_BLOCKER, ACCESS_TOKEN_COLUMNS, accessTokenValues } from './access-tokens.ts';
import { claimAndInsert, claimThenInsert, type ClaimAndInsert } from './claim.ts';
import { settleInsert } from './lost-insert.ts';

/** The UPDATE changes the authorization's row. This prevents a second use of the code or token. */
export interface GrantUse {
  readonly statements: ClaimAndInsert;
  readonly claim: readonly SqlParameter[];
  /** Returns why no tokens were issued, if the row was not in the required state. */
  readonly otherwise: () => Promise<GrantRefusal>;
}

/**
 * Combines an UPDATE that marks a code or refresh token as used with the INSERT for its access
 * token.
 */
export function usingGrant(database: Database, claim: string): ClaimAndInsert {
  return claimAndInsert(database, claim, 'oauth_access_tokens', ACCESS_TOKEN_COLUMNS);
}

/**
 * Marks a code or refresh token as used and inserts the access token, or does neither. No other
 * function issues tokens for a code or refresh token.
 */
export async function issueTokens(
  database: Database,
  { statements, claim, otherwise }: GrantUse,
  { family }: StoredGrant,
  { accessToken, refreshToken }: NewTokens,
  now: number,
): Promise<GrantOutcome> {
  const owner = { clientId: family.clientId, familyId: family.id, audience: null };
  const insert = accessTokenValues(owner, accessToken, now);
  let isUnsettled = false;
  // The connection was lost. If the code or token was marked as used, the client must get its
  // tokens. If the access token was not inserted, prevent a later insert.
  const tookEffect = async () => {
    isUnsettled = true;
    const wasIssued = await settleInsert(database, ACCESS_TOKEN_BLOCKER, accessToken, now);
    isUnsettled = false;
    return wasIssued;
  };
  try {
    if (await claimThenInsert(database, statements, { claim, insert, tookEffect }))
      return { issued: true };
  } catch (error) {
    if (!isUnsettled) throw error;
    const inUse = refreshToken?.hash ?? null;
    return {
      issued: null,
      error,
      settle: async () => (await tookEffect()) && isLastWord(database, family.id, inUse),
    };
  }
  return { issued: false, refusal: await otherwise() };
}

/**
 * Returns true if the authorization is active and this is its current refresh token. If not,
 * another process may have sent a response, and the client uses the tokens in that one.
 */
async function isLastWord(
  database: Database,
  familyId: string,
  refreshHash: string | null,
): Promise<boolean> {
  const { rows } = await database.execute<{ refresh_hash: string | null }>(FIND_IN_USE, [familyId]);
  return rows[0] !== undefined && rows[0].refresh_hash === refreshHash;
}

const FIND_IN_USE = 'SELECT refresh_hash FROM oauth_families WHERE id = ? AND revoked_at IS NULL';
