import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { quotedList } from '../quoting.ts';
import { requireScopes } from '../tokens/scopes.ts';
import type { Client } from '../store/client.ts';
import type { Family, RefreshToken, StoredGrant } from '../store/grant.ts';
import { parseRefreshToken } from '../tokens/token-formats.ts';
import type { ProvedKey } from '../tokens/key-binding.ts';
import type { TokenGrant, TokenResponse } from './grant.ts';
import type { GrantParts } from './parts.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import type { TokenRequest } from './lost-answers.ts';
import { invalidGrant, Outcomes } from './outcome.ts';
import { Replays } from './replay-response.ts';
import type { SecondUses } from './repeated-answers.ts';
import {
  againFor,
  expired,
  INACTIVE_ACCOUNT,
  naming,
  ofAnotherClient,
  ofAnotherKey,
  requireBeginning,
  requireKnownAudience,
  requireSameResource,
  requireScopesInForce,
} from './stored-grant.ts';

interface Offer extends TokenRequest {
  readonly proved: ProvedKey | null;
  readonly presented: string;
  /**
   * A secret in all refresh tokens of one authorization. The server recognizes used tokens by it
   * (decision 8). Null if the token contains none.
   */
  readonly mark: string | null;
  readonly now: number;
}

/**
 * Exchanges a refresh token for a new one (RFC 6749 section 6, RFC 9700 section 4.14.2). Each token
 * works once.
 *
 * With the profile fapi2, the response contains the same refresh token again. It is useless without
 * the client's key (decision 45).
 */
export class RefreshTokenGrant implements TokenGrant {
  readonly #parts: GrantParts;
  readonly #outcomes: Outcomes;
  readonly #replays: Replays;
  /** Null if every second use is a replay. */
  readonly #retries: SecondUses | null;

  constructor(parts: GrantParts) {
    this.#parts = parts;
    const again = againFor('refresh_token', parts, (inForce, form, client, family) => {
      requireBeginning(client, parts.server.grantTypes());
      return this.#narrowed(inForce, client, family, form.get('scope'));
    });
    this.#replays = new Replays('refresh_token', parts);
    this.#outcomes = new Outcomes('refresh_token', parts, again, this.#replays);
    const requireSame = this.#requireSame.bind(this);
    this.#retries = parts.secondUses?.({ again, requireSame }, parts.binding) ?? null;
  }

  async answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse> {
    const { store, clock } = this.#parts.server;
    const presented = form.require('refresh_token');
    const { offered, mark } = parseRefreshToken(presented);
    const now = clock();
    const token = await store.refreshTokens.findRefreshToken(offered);
    if (token === null) throw invalidGrant('the refresh token is unknown');
    const thumbprint = proved?.thumbprint ?? null;
    const offer = { client, form, thumbprint, proved, presented, mark, now };
    return naming(token.family, async () => {
      if (token.family.clientId !== client.id)
        throw invalidGrant(ofAnotherClient('refresh token', token));
      if (proved !== null) await proved.claim();
      await this.#requireKey(token, thumbprint);
      return token.used ? this.#answerUsed(offer, token) : this.#use(offer, token);
    });
  }

  /**
   * Refuses a token that is bound to a key if the request does not prove this key. The
   * authorization stays active. Otherwise, an attacker with only the token could end it.
   *
   * One case ends the authorization: it had refresh tokens without a key first, and now a used
   * token arrives without the key. An attacker may have been the first to prove a key. This request
   * may then come from the real client.
   */
  async #requireKey(token: RefreshToken, thumbprint: string | null): Promise<void> {
    const { family, used } = token;
    if (family.thumbprint === null || family.thumbprint === thumbprint) return;
    if (used && family.isBoundLate === true) await this.#replays.revoke(token);
    throw invalidGrant(ofAnotherKey('refresh token', thumbprint));
  }

  /**
   * Handles a token that was already used. During the retry window, returns the first response
   * again. Later uses are replays: an attacker may have the token too, so the authorization ends.
   */
  async #answerUsed(offer: Offer, token: RefreshToken): Promise<TokenResponse> {
    const answer = (await this.#retries?.answer(offer, offer.presented, token)) ?? null;
    if (answer !== null) return answer;
    await this.#replays.revoke(token);
    throw invalidGrant('the refresh token was used before; its authorization is revoked');
  }

  async #use(offer: Offer, token: RefreshToken): Promise<TokenResponse> {
    const { store, profiles } = this.#parts.server;
    const { client, form, presented, now } = offer;
    const stays = profiles.of(client)?.refreshTokensStay === true;
    const request = await this.#tokenRequest(offer, token, stays);
    const prepared = await this.#parts.issuing.forPerson(request);
    const retries = stays ? null : this.#retries;
    const sealed = retries?.seal(presented, token, prepared, now) ?? null;
    const outcome = await store.refreshTokens.rotateRefreshToken(
      token,
      prepared.tokens,
      now,
      sealed,
    );
    if (retries !== null && outcome.issued === false)
      return this.#answerTaken(offer, token, request, prepared);
    return this.#outcomes.respond(form, request, token, prepared, outcome);
  }

  /** Runs all checks for an unused refresh token. Returns the request for new tokens. */
  async #tokenRequest(
    { client, form, thumbprint, presented, mark, now }: Offer,
    token: RefreshToken,
    stays: boolean,
  ): Promise<PersonalTokenRequest> {
    const { accounts, resources, grantTypes } = this.#parts.server;
    const { family } = token;
    if (token.expiresAt <= now) throw invalidGrant(expired('refresh token', token));
    requireBeginning(client, grantTypes());
    requireSameResource(family, form.get('resource'));
    requireKnownAudience(family, resources);
    const inForce = requireScopesInForce(family, client, resources);
    const scopes = this.#narrowed(inForce, client, family, form.get('scope'));
    const user = await accounts.active(family.person);
    if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
    const again = stays ? presented : null;
    const isBoundLate = family.isBoundLate === true || family.thumbprint === null;
    return { client, family, user, scopes, thumbprint, nonce: null, mark, again, isBoundLate, now };
  }

  /**
   * Handles a token that changed after this request passed its checks: another request used it, or
   * its authorization ended. During the retry window, both requests get the same response.
   */
  async #answerTaken(
    offer: Offer,
    token: RefreshToken,
    request: PersonalTokenRequest,
    prepared: PreparedTokens,
  ): Promise<TokenResponse> {
    const { store, clock } = this.#parts.server;
    const answer = (await this.#retries?.answer(offer, offer.presented, token)) ?? null;
    if (answer !== null) return answer;
    const refusal = (await store.authorizations.revokeReplayed(token, clock()))
      ? 'used'
      : 'revoked';
    return this.#outcomes.respond(offer.form, request, token, prepared, { issued: false, refusal });
  }

  /** Returns the requested scopes, or all that still apply if the request names none. */
  #narrowed(
    inForce: readonly string[],
    client: Client,
    { audience }: Family,
    scope: string | undefined,
  ): readonly string[] {
    return requireScopes(scope, {
      available: inForce,
      isDropped: this.#parts.droppedScopes.of(client, audience),
      refusal: 'The scope reaches beyond what was granted.',
      detail: 'the client was not granted these scopes, or no longer has them',
    });
  }

  /**
   * Throws unless the request is for the same resource and scopes as the first one. Other scopes
   * would need another access token.
   */
  #requireSame(
    client: Client,
    form: Parameters,
    { family }: StoredGrant,
    issued: readonly string[],
  ): void {
    requireSameResource(family, form.get('resource'));
    const inForce = requireScopesInForce(family, client, this.#parts.server.resources);
    const asked = this.#narrowed(inForce, client, family, form.get('scope'));
    const given = issued.filter((scope) => inForce.includes(scope));
    if (asked.length === given.length && asked.every((scope) => given.includes(scope))) return;
    throw new OAuthError(
      'invalid_scope',
      'The refresh token was used with another scope a moment ago.',
      `the refresh token was used for ${quotedList(issued)}, but is now sent ` +
        `for ${quotedList(asked)}`,
    );
  }
}
