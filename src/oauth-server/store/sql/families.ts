import { equalInConstantTime } from '../../../http/constant-time.ts';
import type { Database, SqlParameter } from '../../../sql/contract.ts';
import type { GrantOutcome, GrantRefusal, NewTokens, OfferedToken, StoredGrant } from '../grant.ts';
import type { ConsentOutcome } from '../requests.ts';
import type { Store } from '../store.ts';
import { ACCESS_TOKEN_COLUMNS, ACCESS_TOKEN_BLOCKER, accessTokenValues } from './access-tokens.ts';
import { claimAndInsert, claimThenInsert, type ClaimAndInsert } from './claim.ts';
import { consentParameters } from './consent-requests.ts';
import {
  AUTHORIZATION_COLUMNS,
  GRANT_COLUMNS,
  hasMark,
  refreshState,
  SET_REFRESH_STATE,
  toAuthorization,
  toCode,
  toRefreshToken,
  type AuthorizationRow,
  type GrantRow,
} from './family-rows.ts';
import { blockingRow, settleInsert } from './lost-insert.ts';
import { confirmRevocation, HAS_OPENID, keysWhere, removeKeys, type Condition } from './statements.ts';

/**
 * Authorizations, each with its code, its current refresh token and whether it is revoked: `oauth_families`. Issuing updates the
 * row and revoking updates the same row, so neither passes the other, and a second use finds the row changed (decision 29).
 */
export function familiesTable(database: Database) {
  async function find({ id }: OfferedToken): Promise<GrantRow | undefined> {
    const { rows } = await database.execute<GrantRow>(FIND, [id]);
    return rows[0];
  }

  /** The one way from a code or refresh token to tokens: its use, which claims the family, and the access token. */
  async function issue(
    use: ClaimAndInsert,
    claim: readonly SqlParameter[],
    { family }: StoredGrant,
    { accessToken, refreshToken }: NewTokens,
    now: number,
    otherwise: () => Promise<GrantRefusal>,
  ): Promise<GrantOutcome> {
    const owner = { clientId: family.clientId, familyId: family.id, audience: null };
    const insert = accessTokenValues(owner, accessToken, now);
    let isUnsettled = false;
    // Nothing may be spent without an answer: the token is there, or the use does not happen.
    const tookEffect = async () => {
      isUnsettled = true;
      const wasIssued = await settleInsert(database, ACCESS_TOKEN_BLOCKER, accessToken, now);
      isUnsettled = false;
      return wasIssued;
    };
    try {
      if (await claimThenInsert(database, use, { claim, insert, tookEffect })) return { issued: true };
    } catch (error) {
      if (!isUnsettled) throw error;
      const inUse = refreshToken?.hash ?? null;
      return {
        issued: null,
        error,
        settle: async () => (await tookEffect()) && isLastWord(family.id, inUse),
      };
    }
    // The row was not as the grant needs it, and never will be again.
    return { issued: false, refusal: await otherwise() };
  }

  /** The grant was used, or the family was revoked. */
  async function revokeUsed({ family }: StoredGrant, now: number): Promise<GrantRefusal> {
    return (await revokeFamily(family.id, now)) ? 'used' : 'revoked';
  }

  /** The code was used, or replaced by another, or the family was revoked. */
  async function revokeUnlessReplaced(code: StoredGrant, now: number): Promise<GrantRefusal> {
    const { family, hash } = code;
    const { affected } = await database.execute(REVOKE_BY_CODE, [now, family.id, hash]);
    if (affected === 1) return 'used';
    const { rows } = await database.execute<StateRow>(FIND_STATE, [family.id]);
    const [row] = rows;
    if (row?.revoked_at === null && row.code_hash !== hash) return 'replaced';
    await wasRevoked(family.id);
    return 'revoked';
  }

  /** Whether the family lives, and this is its refresh token now: another process may have answered, and its answer been used. */
  async function isLastWord(familyId: string, refreshHash: string | null): Promise<boolean> {
    const { rows } = await database.execute<Pick<GrantRow, 'refresh_hash'>>(FIND_IN_USE, [familyId]);
    return rows[0] !== undefined && rows[0].refresh_hash === refreshHash;
  }

  async function revokeFamily(familyId: string, now: number): Promise<boolean> {
    const { affected } = await database.execute(
      'UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
      [now, familyId],
    );
    return affected === 1 || wasRevoked(familyId);
  }

  /** False, once it is for good that there was nothing to revoke. */
  async function wasRevoked(familyId: string): Promise<false> {
    await confirmRevocation(database, 'oauth_families', 'id = ?', [familyId]);
    return false;
  }

  return {
    revokeFamily,

    async answerConsent(read, allowed, { allow, at: now }) {
      const { idHash, asked } = read;
      const familyId = allowed?.family.id ?? null;
      const parameters = consentParameters({ ...read, answer: { allow, at: now, familyId } });
      const answered = (outcome: ConsentOutcome) => {
        return [outcome, parameters, idHash, asked.person.provider, asked.person.id, now];
      };
      if (allowed === null) {
        const deny = async (statement: string, again?: () => Promise<boolean>) =>
          (await database.execute(statement, answered('denied'), again)).affected === 1;
        return deny(ANSWER, () => deny(DENY_AGAIN));
      }
      const { family, code } = allowed;
      return claimThenInsert(database, ALLOW, {
        claim: answered('allowed'),
        insert: [
          family.id,
          family.clientId,
          family.person.provider,
          family.person.id,
          family.subject,
          family.scopes.join(' '),
          family.audience,
          family.thumbprint,
          now,
          code.expiresAt,
          code.expiresAt,
          code.expiresAt,
          code.hash,
          JSON.stringify(code.parameters),
        ],
        tookEffect: () => settleInsert(database, FAMILY_BLOCKER, { id: family.id, hash: code.hash }, now),
      });
    },

    async replaceCode({ id, clientId, person, scopes }, { hash, expiresAt }) {
      const replace = async (again?: () => Promise<boolean>) => {
        const set = [hash, expiresAt, expiresAt, expiresAt];
        const which = [id, clientId, person.provider, person.id, scopes.join(' ')];
        return (await database.execute(REPLACE_CODE, [...set, ...which], again)).affected === 1;
      };
      // A statement that was lost is simply run again: nobody has its code yet.
      if (await replace(replace)) return 'replaced';
      const { rows } = await database.execute<StateRow>(FIND_STATE, [id]);
      const [row] = rows;
      // A code that is spent stays so.
      return row?.revoked_at === null && row.code_spent_at !== null ? 'used' : 'ended';
    },

    async findCode(offered) {
      const row = await find(offered);
      if (row === undefined || !equalInConstantTime(row.code_hash ?? '', offered.hash)) return null;
      return toCode(row, offered);
    },

    spendCode(code, tokens, now) {
      const claim = [now, ...refreshState(tokens, now), code.family.id, code.hash];
      return issue(SPEND_CODE, claim, code, tokens, now, () => revokeUnlessReplaced(code, now));
    },

    async burnCode(code, offeredBy, now) {
      const { hash, family } = code;
      const { affected } = await database.execute(BURN_CODE, [now, family.id, hash]);
      if (affected === 1 || offeredBy !== family.clientId) return false;
      return (await revokeUnlessReplaced(code, now)) === 'used';
    },

    async findRefreshToken(offered) {
      const row = await find(offered);
      return row === undefined || !hasMark(row, offered) ? null : toRefreshToken(row, offered);
    },

    rotateRefreshToken(token, tokens, now, sealed = null) {
      const [state, which] = [refreshState(tokens, now), [token.family.id, token.hash]];
      if (sealed === null) {
        const revoke = () => revokeUsed(token, now);
        return issue(USE_REFRESH_TOKEN, [...state, ...which], token, tokens, now, revoke);
      }
      const claim = [...state, sealed, now, ...which];
      return issue(USE_AND_KEEP, claim, token, tokens, now, () => Promise.resolve('taken'));
    },

    async revokeReplayed({ hash, family }, now) {
      const { affected } = await database.execute(
        `UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL
          AND (refresh_hash IS NULL OR refresh_hash <> ?)`,
        [now, family.id, hash],
      );
      return affected === 1 || wasRevoked(family.id);
    },

    async hasOpenidFamily() {
      const { rows } = await database.execute(`SELECT 1 FROM oauth_families WHERE ${HAS_OPENID} LIMIT 1`);
      return rows.length > 0;
    },

    async listAuthorizations(person, now) {
      const { rows } = await database.execute<AuthorizationRow>(
        `SELECT ${AUTHORIZATION_COLUMNS}
        FROM oauth_families f
        JOIN oauth_clients c ON c.client_id = f.client_id AND c.revoked_at IS NULL
        WHERE f.user_provider = ? AND f.user_id = ? AND f.revoked_at IS NULL AND f.expires_at > ?
        ORDER BY f.created_at, f.id`,
        [person.provider, person.id, now],
      );
      return rows.map((row) => toAuthorization(row));
    },

    confirmRevoked({ provider, id }, clientId) {
      const ofPerson = 'user_provider = ? AND user_id = ? AND client_id = ? AND revoked_at IS NOT NULL';
      return confirmRevocation(database, 'oauth_families', ofPerson, [provider, id, clientId]);
    },
  } satisfies Partial<Store>;
}

/** Removes at most `limit` families to which the condition applies. */
export async function removeFamilies(
  database: Database,
  condition: Condition,
  limit: number,
): Promise<{ readonly removed: number; readonly more: boolean }> {
  const families = ['oauth_families', 'id'] as const;
  const ids = await keysWhere(database, families, condition, limit);
  return { removed: await removeKeys(database, families, ids, condition), more: ids.length > 0 };
}

// --- statements -----------------------------------------------------------------------------------------------

const FIND = `SELECT ${GRANT_COLUMNS} FROM oauth_families f WHERE f.id = ?`;

const FIND_IN_USE = 'SELECT refresh_hash FROM oauth_families WHERE id = ? AND revoked_at IS NULL';

const ANSWERABLE = 'id_hash = ? AND user_provider = ? AND user_id = ? AND expires_at > ?';

const ANSWER = `UPDATE oauth_consent_requests SET outcome = ?, parameters = ?
  WHERE ${ANSWERABLE} AND outcome IS NULL`;

/** For the values of `ANSWER`: denies what is not answered yet, or was denied by a statement that was lost. */
const DENY_AGAIN = `UPDATE oauth_consent_requests SET outcome = ?, parameters = ?
  WHERE ${ANSWERABLE} AND (outcome IS NULL OR outcome = 'denied')`;

const ALLOW = claimAndInsert(
  ANSWER,
  'oauth_families',
  `id, client_id, user_provider, user_id, subject, scope, audience, thumbprint, created_at, expires_at, prune_after,
    code_expires_at, code_hash, code_parameters`,
);

/** A row that is nobody's authorization: it was revoked from the beginning, and has neither a code nor a mark. */
const FAMILY_BLOCKER = blockingRow(
  'oauth_families',
  'id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, revoked_at, prune_after',
  'code_hash',
);

const SPEND_CODE = claimAndInsert(
  `UPDATE oauth_families SET code_spent_at = ?, code_parameters = NULL, ${SET_REFRESH_STATE}
  WHERE id = ? AND code_hash = ? AND code_spent_at IS NULL AND revoked_at IS NULL`,
  'oauth_access_tokens',
  ACCESS_TOKEN_COLUMNS,
);

const BURN_CODE = `UPDATE oauth_families SET code_spent_at = ?, code_parameters = NULL
  WHERE id = ? AND code_hash = ? AND code_spent_at IS NULL`;

/** The code that this row has is good, and no other: of two answers at once the later one's. */
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
