import { ReplayEventLimit } from '../auditing/replay-event-limit.ts';
import type { StoredGrant } from '../store/grant.ts';
import type { GrantParts } from './parts.ts';

/** How the audit log and the measurements name a replay. */
const NAMES = {
  authorization_code: { event: 'code_replayed', measured: 'code' },
  refresh_token: { event: 'refresh_token_replayed', measured: 'refresh_token' },
} as const;

/**
 * What happens when a code or refresh token is used a second time. The store marks the first use in
 * the write that spends it (`store/sql/codes.ts`, `store/sql/refresh-tokens.ts`), so one of two
 * requests at once is the second.
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

  /** Ends everything that came from this grant: a thief may have the tokens of the first use. */
  async revoke(used: StoredGrant): Promise<void> {
    const { store, clock } = this.#parts.server;
    await this.audit(used, await store.authorizations.revokeReplayed(used, clock()));
  }

  /**
   * Audits a second use, and whether it ended the authorization. Of those that ended nothing, it
   * audits a few per minute.
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
