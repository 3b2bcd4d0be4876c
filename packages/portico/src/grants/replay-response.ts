import { ReplayEventLimit } from '../auditing/replay-event-limit.ts';
import type { StoredGrant } from '../store/grant.ts';
import type { GrantParts } from './parts.ts';

/** The name of the audit event for each kind of replay. */
const EVENTS = { code: 'code_replayed', refresh_token: 'refresh_token_replayed' } as const;

/**
 * Handles the second use of an authorization code or refresh token. The store decides which use is
 * the second: the write that marks the code or token as used also records the first use
 * (`store/sql/codes.ts`, `store/sql/refresh-tokens.ts`). So if two requests arrive at the same
 * time, exactly one of them is the second use.
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
   * Revokes the authorization and all of its tokens, because an attacker may have received the
   * tokens from the first use.
   */
  async revoke(used: StoredGrant): Promise<void> {
    const { store, clock } = this.#parts.server;
    await this.audit(used, await store.authorizations.revokeReplayed(used, clock()));
  }

  /**
   * Writes audit events about a second use, and about the authorization if the second use ended it.
   * If it ended nothing, writes only a few events per minute.
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
