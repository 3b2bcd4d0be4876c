import type { Database } from '@portico/sql';
import { goesBackTo } from '../prior-consent.ts';
import { revokeAll } from './authorizations.ts';
import { readDetails } from './family-rows.ts';
import { confirmRevocation, removeKeys } from './statements.ts';

/** The number of ended rows, and the last key read. The key is null at the end. */
interface EndedBatch {
  readonly ended: number;
  readonly last: string | null;
}

/** Ends all authorizations and tokens after an operator restores a backup. */
export class EverythingIssued {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** An id is null if its table is empty. */
  async newestIds(): Promise<{
    readonly family: string | null;
    readonly accessToken: string | null;
  }> {
    return {
      family: await this.#newestId('oauth_families'),
      accessToken: await this.#newestId('oauth_access_tokens'),
    };
  }

  /**
   * Revokes the active ones of the first `limit` authorizations above `after`, up to `newestId`.
   * Returns their number, and the last id read. The id is null at the end. All of the revocations
   * are then durable.
   */
  async revokeFamilies(
    after: string,
    newestId: string,
    now: number,
    limit: number,
  ): Promise<EndedBatch> {
    const { rows } = await this.#database.execute<{ id: string; revoked_at: number | null }>(
      'SELECT id, revoked_at FROM oauth_families WHERE id > ? AND id <= ? ORDER BY id ' +
        `LIMIT ${limit}`,
      [after, newestId],
    );
    const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    const ended = await revokeAll(
      this.#database,
      rows.filter((row) => row.revoked_at === null),
      now,
    );
    // An earlier run may have revoked the last authorizations before the standbys received the
    // change. Confirm this at the end.
    if (last === null)
      await confirmRevocation(this.#database, 'oauth_families', 'id = ?', [newestId]);
    return { ended, last };
  }

  /**
   * Reads the first `limit` authorizations above `after`. Revokes those that skipped the consent
   * page because of an authorization up to `newestId`. Also returns how many of them were active.
   */
  async revokeGoingBack(
    after: string,
    newestId: string,
    now: number,
    limit: number,
  ): Promise<EndedBatch & { readonly living: number }> {
    const { rows } = await this.#database.execute<DetailedRow>(
      `SELECT id, revoked_at, details FROM oauth_families WHERE id > ? ORDER BY id LIMIT ${limit}`,
      [after],
    );
    const living = rows
      .filter((row) => row.revoked_at === null)
      .filter((row) => goesBackTo(newestId, readDetails(row.details).details));
    return {
      ended: await revokeAll(this.#database, living, now),
      living: living.length,
      last: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
    };
  }

  /** Like `revokeFamilies`, but removes clients' own access tokens (`client_credentials`). */
  async removeClientTokens(after: string, newestId: string, limit: number): Promise<EndedBatch> {
    const { rows } = await this.#database.execute<{
      id: string;
      family_id: string | null;
      secret_hash: string;
    }>(
      'SELECT id, family_id, secret_hash FROM oauth_access_tokens WHERE id > ? AND id <= ? ' +
        `ORDER BY id LIMIT ${limit}`,
      [after, newestId],
    );
    const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    // A row with an empty hash is not a token (ACCESS_TOKEN_BLOCKER).
    const own = rows
      .filter((row) => row.family_id === null && row.secret_hash !== '')
      .map((row) => row.id);
    const table = ['oauth_access_tokens', 'id'] as const;
    const ended = await removeKeys(this.#database, table, own, ['family_id', 'IS NULL', []]);
    return { ended, last };
  }

  async #newestId(table: string): Promise<string | null> {
    const { rows } = await this.#database.execute<{ newest: string | null }>(
      `SELECT MAX(id) AS newest FROM ${table}`,
    );
    return rows[0]?.newest ?? null;
  }
}

interface DetailedRow {
  readonly id: string;
  readonly revoked_at: number | null;
  readonly details: string | null;
}
