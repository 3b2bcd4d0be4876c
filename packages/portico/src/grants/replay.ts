import { ReplayEventLimit } from '../auditing/replay-event-limit.ts';
import type { StoredGrant } from '../store/grant.ts';
import type { GrantParts } from './parts.ts';

/** The names of a replay in the audit log and in measurements. */
const NAMES = {
  authorization_code: { event: 'code_replayed', measured: 'code' },
  refresh_token: { event: 'refresh_token_replayed', measured: 'refresh_token' },
} as const;

/**
 * Handles the second use of a code or refresh token. `store/sql/family-rows.ts` tells whether a
 * code or token was used before. The store marks the first use in the same write that spends the
 * code or token (`store/sql/codes.ts`, `store/sql/refresh-tokens.ts`). So if two requests arrive at
 * once, exactly one counts as the second use.
 */
export class Replays {
  readonly grantType: keyof typeof NAMES;
  readonly #parts: GrantParts;
  readonly #limit: ReplayEventLimit;

  constructor(grantType: keyof typeof NAMES, parts: GrantParts) {
    this.grantType = grantType;
    this.#parts = parts;
    this.#limit = new ReplayEventLimit(parts.server.clock);
  }

  /**
   * Ends everything that was issued from this grant, because a thief may have the tokens from the
   * first use.
   */
  async revoke(used: StoredGrant): Promise<void> {
    const { store, clock } = this.#parts.server;
    await this.audit(used, await store.authorizations.revokeReplayed(used, clock()));
  }

  /**
   * Audits a second use, and whether it ended the authorization. If it ended nothing, the audit log
   * gets only a few events per minute.
   */
  async audit({ family }: StoredGrant, revoked = true): Promise<void> {
    const { audit, measuring } = this.#parts.server;
    const { event, measured } = NAMES[this.grantType];
    const about = { authorization: family.id, clientId: family.clientId, person: family.person };
    if (revoked || this.#limit.admits(family.id)) await audit({ type: event, ...about });
    measuring?.replayed(measured);
    if (revoked) await audit({ type: 'family_revoked', ...about, reason: 'replay' });
  }
}
