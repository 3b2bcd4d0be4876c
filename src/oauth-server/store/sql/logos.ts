import type { Database, SqlConnection } from '../../../sql/contract.ts';
import type { ClientLogo } from '../client.ts';
import type { Store } from '../store.ts';

/** The pictures of clients: `oauth_client_logos`. */
export function logosTable(database: Database) {
  return {
    async findLogo(clientId, hash) {
      const { rows } = await database.execute<LogoRow>(
        'SELECT hash, media_type, image FROM oauth_client_logos WHERE client_id = ? AND hash = ?',
        [clientId, hash],
      );
      const [row] = rows;
      return row === undefined
        ? null
        : { hash: row.hash, mediaType: row.media_type, bytes: Buffer.from(row.image, 'base64') };
    },
  } satisfies Partial<Store>;
}

/** Puts this in the place of the client's logo: within the step that inserts or changes the client's row, which names it. */
export async function replaceLogo(
  connection: SqlConnection,
  clientId: string,
  logo: ClientLogo | null,
): Promise<void> {
  await connection.execute('DELETE FROM oauth_client_logos WHERE client_id = ?', [clientId]);
  if (logo === null) return;
  await connection.execute(
    'INSERT INTO oauth_client_logos (client_id, hash, media_type, image) VALUES (?, ?, ?, ?)',
    [clientId, logo.hash, logo.mediaType, Buffer.from(logo.bytes).toString('base64')],
  );
}

interface LogoRow {
  readonly hash: string;
  readonly media_type: string;
  readonly image: string;
}
