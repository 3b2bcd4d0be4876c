import type { Database } from '../../../sql/contract.ts';
import { insertIfNone } from '../../../sql/insert-if-none.ts';
import type { Store } from '../store.ts';

/** The keys of the cookies in which requests wait: `oauth_cookie_keys`. */
export function cookieKeysTable(database: Database) {
  async function findCookieKey(period: number): Promise<string | null> {
    const { rows } = await database.execute<{ key_text: string }>(
      'SELECT key_text FROM oauth_cookie_keys WHERE period = ?',
      [period],
    );
    return rows[0]?.key_text ?? null;
  }

  return {
    async cookieKey(period, candidate, oldest) {
      const known = await findCookieKey(period);
      if (known !== null) return known;
      await insertIfNone(database, 'oauth_cookie_keys (period, key_text) VALUES (?, ?)', '(period)', [
        period,
        candidate,
      ]);
      await database.execute('DELETE FROM oauth_cookie_keys WHERE period < ?', [oldest]);
      const key = await findCookieKey(period);
      if (key === null) throw new Error('The key of the cookies could not be kept');
      return key;
    },

    findCookieKey,
  } satisfies Partial<Store>;
}
