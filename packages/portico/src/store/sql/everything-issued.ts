import type { Database } from '@portico/sql';
import { confirmRevocation, placeholders, removeKeys } from './statements.ts';

/**
 * How many rows a batch has ended, and the last key that it read. The key is null if there are no
 * more rows.
 */
interface EndedBatch {
  readonly ended: number;
  readonly last: string | null;
}

/** Ends everything that was ever issued. Use it after you restore a backup. */
export class EverythingIssued {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns the highest authorization id and access token id. An id is null if its table is empty.
   */
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
   * Reads the first `limit` authorizations with ids above `after` and up to `newestId`, and revokes
   * the active ones. Returns how many, and the last id that it read. The id is null if there are no
   * more authorizations and all revocations are durable.
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
    const living = rows.filter((row) => row.revoked_at === null).map((row) => row.id);
    const { affected: ended } =
      living.length === 0
        ? NONE
        : await this.#database.execute(
            `UPDATE oauth_families SET revoked_at = ? WHERE id IN (${placeholders(living)}) ` +
              'AND revoked_at IS NULL',
            [now, ...living],
          );
    // An earlier run may have revoked authorizations on a primary whose standbys do not have the
    // change yet.
    if (last === null)
      await confirmRevocation(this.#database, 'oauth_families', 'id = ?', [newestId]);
    return { ended, last };
  }

  /**
   * Removes the access tokens that clients have for themselves. Otherwise like `revokeFamilies`.
   */
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
    // A row with an empty hash is not a token. It prevents that a lost statement issues a token
    // later (ACCESS_TOKEN_BLOCKER).
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

const NONE = { affected: 0 };
