import type { Audit } from '../auditing/audit.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Measuring } from '../measuring/measuring.ts';
import type { Client } from '../store/client.ts';
import type { GrantOutcome, GrantRefusal, StoredGrant } from '../store/grant.ts';
import type { Store } from '../store/store.ts';
import type { TokenResponse } from './grant.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import { createReplayEventLimit } from '../auditing/replay-event-limit.ts';
import type { LostAnswers } from './lost-answers.ts';

/**
 * Turns the store's outcome for a code or refresh token into the response to the client, and into
 * audit events.
 */
export interface Outcomes {
  /**
   * Returns the response if the tokens were issued; throws `invalid_grant` if not. If that is
   * unknown, keeps the response for the same request of this client, and throws the store's error.
   * A kept response is checked again before it is given.
   */
  respond(
    form: Parameters,
    request: PersonalTokenRequest,
    used: StoredGrant,
    prepared: PreparedTokens,
    outcome: GrantOutcome,
  ): Promise<TokenResponse>;
  /**
   * Ends everything that came from a grant that is used a second time: a thief may have the tokens
   * of the first use.
   */
  revokeReplayed(used: StoredGrant): Promise<void>;
  /**
   * Audits a second use, and whether it ended the authorization. Of those that ended nothing, it
   * audits a few per minute.
   */
  auditReplay(used: StoredGrant, revoked?: boolean): Promise<void>;
}

/**
 * The response to a request for which tokens with these scopes were issued, as the grant would give
 * it now. Refuses, as the grant does, what it would no longer give.
 */
export type Again = (
  client: Client,
  form: Parameters,
  request: Pick<PersonalTokenRequest, 'family' | 'nonce' | 'thumbprint'>,
  issued: { readonly scopes: readonly string[]; readonly response: TokenResponse },
) => Promise<TokenResponse>;

/** The value of `expires_in`, however long ago the token was issued. */
export function secondsLeft(expiresAt: number, now: number): number {
  return Math.max(0, Math.ceil((expiresAt - now) / 1000));
}

/**
 * The one public error for every reason: the exact reason would help only an attacker. `detail` is
 * for the log.
 */
export function invalidGrant(detail: string): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The grant is unknown, expired, used, revoked, or does not belong to this client and request.',
    detail,
  );
}

function countTokens(measuring: Measuring, grantType: string, response: TokenResponse): void {
  measuring.tokenIssued(grantType, 'access_token');
  if (response.refresh_token !== undefined) measuring.tokenIssued(grantType, 'refresh_token');
  if (response.id_token !== undefined) measuring.tokenIssued(grantType, 'id_token');
}

/**
 * The name of a stored grant in the log, and of its replay in the audit log; and whether a refusal
 * spends it.
 */
const KINDS = {
  authorization_code: { name: 'code', replayed: 'code_replayed', isSpentRefused: true },
  refresh_token: { name: 'refresh token', replayed: 'refresh_token_replayed', isSpentRefused: false },
} as const;

/** Why the store issued nothing, although all earlier checks passed. */
const LATE_REFUSALS: Readonly<Record<GrantRefusal, string>> = {
  used: 'was used by another request at the same moment',
  revoked: 'belongs to an authorization that was revoked',
  replaced: 'was replaced when the person answered again',
  taken: 'was used by another request, or its authorization was revoked',
};

export interface OutcomesOptions {
  readonly store: Store;
  readonly lostAnswers: Pick<LostAnswers, 'keep'>;
  readonly audit: Audit;
  readonly clock: () => number;
  readonly measuring: Measuring | null;
}

export function createOutcomes(
  grantType: keyof typeof KINDS,
  { store, lostAnswers, audit, clock, measuring }: OutcomesOptions,
  again: Again,
): Outcomes {
  const { name, replayed, isSpentRefused } = KINDS[grantType];
  const isRecorded = createReplayEventLimit(clock);

  async function auditReplay({ family }: StoredGrant, revoked = true): Promise<void> {
    const about = { authorization: family.id, clientId: family.clientId, person: family.person };
    if (revoked || isRecorded(family.id)) await audit({ type: replayed, ...about });
    measuring?.replayed(grantType === 'refresh_token' ? grantType : 'code');
    if (revoked) await audit({ type: 'family_revoked', ...about, reason: 'replay' });
  }

  async function issued(
    { family }: StoredGrant,
    { tokens, response }: PreparedTokens,
  ): Promise<TokenResponse> {
    const { id: authorization, clientId, person } = family;
    const { scopes, expiresAt } = tokens.accessToken;
    await audit({ type: 'tokens_issued', grantType, clientId, person, authorization, scopes });
    if (measuring !== null) countTokens(measuring, grantType, response);
    // The question whether they were issued may have taken long.
    return { ...response, expires_in: Math.min(secondsLeft(expiresAt, clock()), response.expires_in) };
  }

  async function refused(used: StoredGrant, refusal: GrantRefusal): Promise<never> {
    if (refusal === 'used') await auditReplay(used);
    throw invalidGrant(`the ${name} ${LATE_REFUSALS[refusal]}`);
  }

  return {
    respond(form, request, used, prepared, outcome) {
      if (outcome.issued === true) return issued(used, prepared);
      if (outcome.issued === false) return refused(used, outcome.refusal);
      const { scopes } = prepared.tokens.accessToken;
      const answer = async (now: Client) => {
        const { response } = prepared;
        return issued(used, {
          ...prepared,
          response: await again(now, form, request, { scopes, response }),
        });
      };
      const { client, thumbprint } = request;
      lostAnswers.keep({ client, form, thumbprint }, { unsettled: outcome, answer, isSpentRefused });
      throw outcome.error;
    },
    async revokeReplayed(used) {
      await auditReplay(used, await store.authorizations.revokeReplayed(used, clock()));
    },
    auditReplay,
  };
}
