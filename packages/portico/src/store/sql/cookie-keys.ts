import { type Database, insertIfNone } from '@portico/sql';

/** Reads and writes the keys that encrypt data outside the server, for example in cookies. */
export class CookieKeyRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns the key for this period. Without one, stores `candidate` and removes the keys
   * before `oldest`.
   */
  async cookieKey(period: number, candidate: string, oldest: number): Promise<string> {
    const known = await this.findCookieKey(period);
    if (known !== null) return known;
    await insertIfNone(
      this.#database,
      'oauth_cookie_keys (period, key_text) VALUES (?, ?)',
      '(period)',
      [period, candidate],
    );
    await this.#database.execute('DELETE FROM oauth_cookie_keys WHERE period < ?', [oldest]);
    const key = await this.findCookieKey(period);
    if (key === null) throw new Error('The key for cookies could not be stored');
    return key;
  }

  async findCookieKey(period: number): Promise<string | null> {
    const { rows } = await this.#database.execute<{ key_text: string }>(
      'SELECT key_text FROM oauth_cookie_keys WHERE period = ?',
      [period],
    );
    return rows[0]?.key_text ?? null;
  }
}
