import type { Database, SqlConnection } from '@portico/sql';
import type { ClientLogo } from '../client.ts';

/** Reads and writes client logos (`oauth_client_logos`). */
export class LogoRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the client's logo with this hash, or null. */
  async findLogo(clientId: string, hash: string): Promise<ClientLogo | null> {
    const { rows } = await this.#database.execute<LogoRow>(
      'SELECT hash, media_type, image FROM oauth_client_logos WHERE client_id = ? AND hash = ?',
      [clientId, hash],
    );
    const [row] = rows;
    return row === undefined
      ? null
      : { hash: row.hash, mediaType: row.media_type, bytes: Buffer.from(row.image, 'base64') };
  }
}

/** Replaces the client's logo. Runs in the transaction that inserts or changes the client's row. */
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
