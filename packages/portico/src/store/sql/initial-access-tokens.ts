import type { Database, SqlConnection } from '@portico/sql';
import type { InitialAccessToken } from '../client.ts';
import { REGISTRATION_TURN } from '../migrations/locked-rows.ts';
import { confirmRemoval } from './statements.ts';

/** Reads and writes the tokens that let clients register themselves (RFC 7591). */
export class InitialAccessTokenRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insertInitialAccessToken(token: InitialAccessToken, tokenHash: string): Promise<void> {
    const { id, note, uses, usesLeft, createdAt, expiresAt } = token;
    await this.#database.execute(
      `INSERT INTO oauth_initial_access_tokens (id, token_hash, note, uses, uses_left, created_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [id, tokenHash, note, uses, usesLeft, createdAt, expiresAt],
    );
  }

  async findInitialAccessToken(tokenHash: string): Promise<InitialAccessToken | null> {
    const { rows } = await this.#database.execute<TokenRow>(
      `SELECT ${TOKEN_COLUMNS} FROM oauth_initial_access_tokens WHERE token_hash = ?`,
      [tokenHash],
    );
    return rows[0] === undefined ? null : toToken(rows[0]);
  }

  /** Oldest first. */
  async listInitialAccessTokens(): Promise<readonly InitialAccessToken[]> {
    const { rows } = await this.#database.execute<TokenRow>(
      `SELECT ${TOKEN_COLUMNS} FROM oauth_initial_access_tokens WHERE id <> ? ORDER BY ` +
        'created_at, id',
      [REGISTRATION_TURN],
    );
    return rows.map(toToken);
  }

  /** Returns false if the token is unknown. It then stays removed, even if a standby takes over. */
  async deleteInitialAccessToken(id: string): Promise<boolean> {
    const { affected } = await this.#database.execute(
      'DELETE FROM oauth_initial_access_tokens WHERE id = ? AND id <> ?',
      [id, REGISTRATION_TURN],
    );
    if (affected === 0) await confirmRemoval(this.#database, 'oauth_initial_access_tokens');
    return affected === 1;
  }
}

/** Returns false if the token has no uses left or has expired. */
export async function spendInitialAccessToken(
  connection: SqlConnection,
  tokenHash: string,
  now: number,
): Promise<boolean> {
  const { affected } = await connection.execute(
    `UPDATE oauth_initial_access_tokens SET uses_left = uses_left - 1
    WHERE token_hash = ? AND uses_left > 0 AND expires_at > ?`,
    [tokenHash, now],
  );
  return affected === 1;
}

const TOKEN_COLUMNS = 'id, note, uses, uses_left, created_at, expires_at';

interface TokenRow {
  readonly id: string;
  readonly note: string;
  readonly uses: number;
  readonly uses_left: number;
  readonly created_at: number;
  readonly expires_at: number;
}

function toToken(row: TokenRow): InitialAccessToken {
  return {
    id: row.id,
    note: row.note,
    uses: row.uses,
    usesLeft: row.uses_left,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
