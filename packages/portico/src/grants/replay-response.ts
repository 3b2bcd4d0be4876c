import { ReplayEventLimit } from '../auditing/replay-event-limit.ts';
import type { StoredGrant } from '../store/grant.ts';
import type { GrantParts } from './parts.ts';

const EVENTS = { code: 'code_replayed', refresh_token: 'refresh_token_replayed' } as const;

/**
 * Handles the second use of an authorization code or refresh token.
 *
 * The write that marks it as used decides which use is the second (`store/sql/codes.ts`,
 * `store/sql/refresh-tokens.ts`). Of two simultaneous uses, exactly one is the second.
 */
export class Replays {
  readonly kind: keyof typeof EVENTS;
  readonly #parts: GrantParts;
  readonly #limit: ReplayEventLimit;

  constructor(kind: keyof typeof EVENTS, parts: GrantParts) {
    this.kind = kind;
    this.#parts = parts;
    this.#limit = new ReplayEventLimit(parts.server.clock);
  }

  /**
   * Revokes the authorization with all tokens. An attacker may have the tokens of the first use.
   */
  async revoke(used: StoredGrant): Promise<void> {
    const { store, clock } = this.#parts.server;
    await this.audit(used, await store.authorizations.revokeReplayed(used, clock()));
  }

  /**
   * Writes audit events about a second use. If it revoked nothing, writes only a few per minute.
   */
  async audit({ family }: StoredGrant, revoked = true): Promise<void> {
    const { audit, measuring } = this.#parts.server;
    const about = { authorization: family.id, clientId: family.clientId, person: family.person };
    if (revoked || this.#limit.admits(family.id))
      await audit({ type: EVENTS[this.kind], ...about });
    measuring?.replayed(this.kind);
    if (revoked) await audit({ type: 'family_revoked', ...about, reason: 'replay' });
  }
}
