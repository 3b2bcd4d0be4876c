import type { Database } from '@portico/sql';
import { removeFamilies } from './authorizations.ts';
import { keysWhere, placeholders, removeWhere, type Condition } from './statements.ts';

/** In milliseconds since 1970. */
export interface RegistrationAges {
  readonly neverUsedBefore: number;
  readonly unusedBefore: number;
  readonly expiredBefore: number;
  readonly uncountedBefore: number;
}

/**
 * Removes expired authorizations, requests, access tokens, registrations and single-use values.
 * Other classes remove all other expired rows.
 */
export class ExpiredRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Removes at most `limit` expired rows of each kind: authorizations with their codes and refresh
   * tokens, consent requests, and rows of `oauth_waiting_requests`. `more` is true if more rows may
   * follow.
   */
  async prune(
    expiredBefore: number,
    limit: number,
  ): Promise<{
    readonly families: number;
    readonly consentRequests: number;
    readonly more: boolean;
  }> {
    const expired: Condition = ['expires_at', '< ?', [expiredBefore]];
    const families = await removeFamilies(
      this.#database,
      ['prune_after', '< ?', [expiredBefore]],
      limit,
    );
    const consentRequests =
      (await removeWhere(this.#database, ['oauth_consent_requests', 'id_hash'], expired, limit)) +
      (await removeWhere(
        this.#database,
        ['oauth_waiting_requests', 'secret_hash'],
        expired,
        limit,
      ));
    return {
      families: families.removed,
      consentRequests,
      more: families.more || consentRequests > 0,
    };
  }

  /**
   * Reads the first `limit` access tokens after this id, oldest first. Removes the expired ones.
   * Returns the last id read, or null at the end.
   */
  async pruneAccessTokens(
    after: string,
    expiredBefore: number,
    limit: number,
  ): Promise<{ readonly removed: number; readonly last: string | null }> {
    const { rows } = await this.#database.execute<{ id: string; expires_at: number }>(
      `SELECT id, expires_at FROM oauth_access_tokens WHERE id > ? ORDER BY id LIMIT ${limit}`,
      [after],
    );
    const expired = rows.filter((row) => row.expires_at < expiredBefore).map(({ id }) => id);
    const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    if (expired.length === 0) return { removed: 0, last };
    const { affected } = await this.#database.execute(
      `DELETE FROM oauth_access_tokens WHERE id IN (${placeholders(expired)}) AND expires_at < ?`,
      [...expired, expiredBefore],
    );
    return { removed: affected, last };
  }

  /**
   * Removes or changes at most `limit` registrations of each kind:
   *
   * - Removes self-registered clients that were created before `neverUsedBefore` and never used.
   * - Removes self-registered clients that were last used before `unusedBefore`.
   * - Removes unused document clients whose document expired before `neverUsedBefore`. Revoked ones
   *   stay.
   * - Removes initial access tokens that expired before `expiredBefore`.
   * - Clears the stored network of clients that were created before `uncountedBefore`.
   */
  async pruneRegistrations(
    before: RegistrationAges,
    limit: number,
  ): Promise<{ readonly clients: number; readonly more: boolean }> {
    let clients = 0;
    for (const condition of abandoned(before))
      clients += await removeWhere(this.#database, CLIENTS, condition, limit);
    const tokens = await removeWhere(
      this.#database,
      ['oauth_initial_access_tokens', 'id'],
      ['expires_at', '< ?', [before.expiredBefore]],
      limit,
    );
    const uncounted = await this.#forgetNetworks(before.uncountedBefore, limit);
    return { clients, more: clients + tokens + uncounted > 0 };
  }

  /** Returns the number of removed values. */
  pruneSingleUses(expiredBefore: number, limit: number): Promise<number> {
    const expired: Condition = ['expires_at', '< ?', [expiredBefore]];
    return removeWhere(this.#database, ['oauth_single_uses', 'hash'], expired, limit);
  }

  async #forgetNetworks(uncountedBefore: number, limit: number): Promise<number> {
    const registered: Condition = [
      'registered_from',
      'IS NOT NULL AND created_at < ?',
      [uncountedBefore],
    ];
    const uncounted = await keysWhere(this.#database, CLIENTS, registered, limit);
    if (uncounted.length > 0) {
      const forget =
        'UPDATE oauth_clients SET registered_from = NULL WHERE client_id IN ' +
        `(${placeholders(uncounted)})`;
      await this.#database.execute(forget, uncounted);
    }
    return uncounted.length;
  }
}

const CLIENTS = ['oauth_clients', 'client_id'] as const;

/**
 * Returns the conditions for unused clients that no operator registered. Each one uses one index.
 */
function abandoned({ neverUsedBefore, unusedBefore }: RegistrationAges): readonly Condition[] {
  return [
    ['created_at', "< ? AND used_at IS NULL AND registered_by = 'registration'", [neverUsedBefore]],
    ['used_at', "< ? AND registered_by = 'registration'", [unusedBefore]],
    // Keep revoked rows: they block their URLs. Keep clients with a current document too. Pages can
    // show these without writing them again.
    [
      'document_fresh_until',
      "< ? AND used_at IS NULL AND revoked_at IS NULL AND registered_by = 'document'",
      [neverUsedBefore],
    ],
  ];
}
