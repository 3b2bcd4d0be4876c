import type { Client, Grant } from '../store/client.ts';
import type { AuthorizationCode, SecondCodeUse } from '../store/grant.ts';
import { asDescribed } from '../store/renewal.ts';
import type { TokenResponse } from './grant.ts';
import type { TokenRequest } from './lost-answers.ts';
import { invalidGrant, Outcomes } from './outcome.ts';
import type { GrantParts } from './parts.ts';
import { Replays } from './replay-response.ts';
import {
  againFor,
  INACTIVE_ACCOUNT,
  requireKnownAudience,
  requireScopesInForce,
} from './stored-grant.ts';

/** How a grant type handles its codes. */
export interface CodeRules {
  /** The value of `grant_type`. */
  readonly grantType: Grant;
  /** What the server does if a code is used a second time. */
  readonly secondUse: SecondCodeUse;
  /**
   * Returns the scopes for the tokens. Receives the scopes that still apply, and can leave some
   * out. Throws to refuse the request. Called before the code is marked as used. By default, the
   * tokens have all scopes that still apply.
   */
  readonly scopesOf?: (
    code: AuthorizationCode,
    inForce: readonly string[],
  ) => Promise<readonly string[]>;
}

/**
 * Exchanges a code for tokens, once. Checks again what may have changed: the client, the account,
 * the audience, and the scopes. The grant must first check that this request may use the code.
 */
export class CodeExchange {
  readonly replays: Replays;
  readonly #parts: GrantParts;
  readonly #rules: CodeRules;
  readonly #outcomes: Outcomes;

  constructor(parts: GrantParts, rules: CodeRules) {
    this.#parts = parts;
    this.#rules = rules;
    this.replays = new Replays('code', parts);
    const again = againFor(rules.grantType, parts, (inForce) => inForce);
    this.#outcomes = new Outcomes(rules.grantType, parts, again, this.replays);
  }

  /**
   * Marks the code as used without issuing tokens. If its own client sends a used code, ends the
   * authorization and writes audit events. `secondUse: 'refused'` turns this off.
   */
  async burn(code: AuthorizationCode, client: Client, now: number): Promise<void> {
    const { codes } = this.#parts.server.store;
    const offeredBy = this.#rules.secondUse === 'revokes' ? client.id : NO_CLIENT;
    if (await codes.burnCode(code, offeredBy, now)) await this.replays.audit(code);
  }

  /** Marks the code as used and issues tokens. */
  async exchange(
    code: AuthorizationCode,
    { client: sender, form, thumbprint }: TokenRequest,
    now: number,
  ): Promise<TokenResponse> {
    const { store, accounts, resources } = this.#parts.server;
    const { secondUse, scopesOf } = this.#rules;
    const { family, parameters } = code;
    const nonce = parameters?.nonce ?? null;
    const client = asDescribed(sender, parameters ?? {});
    requireKnownAudience(family, resources);
    const user = await accounts.active(family.person);
    if (user === null) {
      await this.burn(code, client, now);
      throw invalidGrant(INACTIVE_ACCOUNT);
    }
    const inForce = requireScopesInForce(family, client, resources);
    const scopes = scopesOf === undefined ? inForce : await scopesOf(code, inForce);
    const request = { client, family, user, scopes, thumbprint, nonce, mark: null, now };
    const prepared = await this.#parts.issuing.forPerson(request);
    const outcome = await store.codes.spendCode(code, prepared.tokens, now, secondUse);
    return this.#outcomes.respond(form, request, code, prepared, outcome);
  }
}

/** No client has this id, so a second use revokes nothing. */
const NO_CLIENT = '';
