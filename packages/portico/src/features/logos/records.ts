import type { Database } from '@portico/sql';
import type { ClientLogo } from '../../store/client.ts';

/** Reads logos from `oauth_client_logos`. The core writes a logo together with its client. */
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

interface LogoRow {
  readonly hash: string;
  readonly media_type: string;
  readonly image: string;
}
