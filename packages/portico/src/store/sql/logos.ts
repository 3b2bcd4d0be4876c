import type { SqlConnection } from '@portico/sql';
import type { ClientLogo } from '../client.ts';

/** Runs in the transaction that writes the client's row. */
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
