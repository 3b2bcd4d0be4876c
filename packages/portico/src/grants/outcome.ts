import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Measuring } from '../measuring.ts';
import type { Client, Grant } from '../store/client.ts';
import type { GrantOutcome, GrantRefusal, StoredGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import type { GrantParts } from './parts.ts';
import type { Again } from './repeated-answers.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import type { Replays } from './replay-response.ts';

/** Returns `expires_in`. The token may have been issued earlier. */
export function secondsLeft(expiresAt: number, now: number): number {
  return Math.max(0, Math.ceil((expiresAt - now) / 1000));
}

/**
 * The client always gets the same description. The exact reason would only help an attacker.
 * `detail` is for the log.
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

/** If `isSpentRefused` is true, a refusal deletes the stored response. */
const KINDS = {
  code: { name: 'code', isSpentRefused: true },
  refresh_token: { name: 'refresh token', isSpentRefused: false },
} as const;

/** Why the store can refuse after all checks: the stored grant changed in the meantime. */
const LATE_REFUSALS: Readonly<Record<GrantRefusal, string>> = {
  used: 'was used by another request at the same moment',
  revoked: 'belongs to an authorization that was revoked',
  replaced: 'was replaced by a newer code, because the consent form was sent again',
  taken: 'was used by another request, or its authorization was revoked',
};

/** Turns the store's result into a response and audit events. */
export class Outcomes {
  readonly #grantType: Grant;
  readonly #parts: GrantParts;
  readonly #again: Again;
  readonly #replays: Replays;

  constructor(grantType: Grant, parts: GrantParts, again: Again, replays: Replays) {
    this.#grantType = grantType;
    this.#parts = parts;
    this.#again = again;
    this.#replays = replays;
  }

  /**
   * Returns the response if the store issued the tokens. Throws `invalid_grant` if it did not.
   *
   * If this is unknown, stores the response and throws the store's error. The client may repeat the
   * request. The server then checks it again before it sends the stored response.
   */
  respond(
    form: Parameters,
    request: PersonalTokenRequest,
    used: StoredGrant,
    prepared: PreparedTokens,
    outcome: GrantOutcome,
  ): Promise<TokenResponse> {
    if (outcome.issued === true) return this.#issued(used, prepared);
    if (outcome.issued === false) return this.#refused(used, outcome.refusal);
    const { scopes } = prepared.tokens.accessToken;
    const answer = async (now: Client) => {
      const { response } = prepared;
      const again = await this.#again(now, form, request, { scopes, response });
      return this.#issued(used, { ...prepared, response: again });
    };
    const { client, thumbprint } = request;
    const { isSpentRefused } = KINDS[this.#replays.kind];
    this.#parts.lostAnswers.keep(
      { client, form, thumbprint },
      { unsettled: outcome, answer, isSpentRefused },
    );
    throw outcome.error;
  }

  async #issued(
    { family }: StoredGrant,
    { tokens, response }: PreparedTokens,
  ): Promise<TokenResponse> {
    const { audit, measuring, clock } = this.#parts.server;
    const grantType = this.#grantType;
    const { id: authorization, clientId, person } = family;
    const { scopes, expiresAt } = tokens.accessToken;
    await audit({ type: 'tokens_issued', grantType, clientId, person, authorization, scopes });
    if (measuring !== null) countTokens(measuring, grantType, response);
    // A stored response may be sent later. Calculate the remaining lifetime again.
    return {
      ...response,
      expires_in: Math.min(secondsLeft(expiresAt, clock()), response.expires_in),
    };
  }

  async #refused(used: StoredGrant, refusal: GrantRefusal): Promise<never> {
    if (refusal === 'used') await this.#replays.audit(used);
    throw invalidGrant(`the ${KINDS[this.#replays.kind].name} ${LATE_REFUSALS[refusal]}`);
  }
}
