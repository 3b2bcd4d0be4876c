import type { SqlConnection } from '@portico/sql';
import type { Client, ClientAddition, ClientLogo } from '../client.ts';
import { CLIENT_COLUMNS, clientValues, toClient, type ClientRow } from './client-rows.ts';
import { replaceLogo } from './logos.ts';
import { exists, insertInto } from './statements.ts';

export const INSERT_CLIENT = insertInto('oauth_clients', CLIENT_COLUMNS);

const FIND_CLIENT = `SELECT ${CLIENT_COLUMNS} FROM oauth_clients WHERE client_id = ?`;

/** Some engines refuse other strings. Never send them to the database. */
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** Accepts any string. */
export async function findClient(connection: SqlConnection, id: string): Promise<Client | null> {
  if (!CLIENT_ID.test(id)) return null;
  const { rows } = await connection.execute<ClientRow>(FIND_CLIENT, [id]);
  // Compare the id again. Some collations ignore trailing spaces.
  const row = rows.find((found) => found.client_id === id);
  return row === undefined ? null : toClient(row);
}

/** Inserts the client without its logo. */
export async function insertClient(connection: SqlConnection, client: Client): Promise<void> {
  await connection.execute(INSERT_CLIENT, clientValues(client));
}

export interface WithClient {
  readonly logo?: ClientLogo | undefined;
  readonly addition?: ClientAddition | undefined;
}

/** Inserts the client, its logo and its additional data. */
export async function insertWhole(
  connection: SqlConnection,
  client: Client,
  { logo, addition }: WithClient,
): Promise<void> {
  await insertClient(connection, client);
  if (logo !== undefined) await replaceLogo(connection, client.id, logo);
  await addition?.(connection);
}

/** Inserts all of these clients, or none. Returns the first id that already exists, or null. */
export async function insertAll(
  connection: SqlConnection,
  clients: readonly Client[],
): Promise<string | null> {
  for (const { id } of clients)
    if (await exists(connection, 'oauth_clients', 'client_id', id)) return id;
  for (const client of clients) await insertClient(connection, client);
  return null;
}

/** Returns true if the stored client equals this one. Another client may now have the same id. */
export async function isThisClient(connection: SqlConnection, client: Client): Promise<boolean> {
  const { rows } = await connection.execute<ClientRow>(FIND_CLIENT, [client.id]);
  const values = JSON.stringify(clientValues(client));
  return rows.some((row) => JSON.stringify(clientValues(toClient(row))) === values);
}

/**
 * The id of a row that is a lock for work that depends on all clients. A transaction inserts this
 * row first and deletes it last, so others never see it. On every engine, a second insert waits
 * until the first transaction ends.
 */
export const TURN = 'one at a time';

/**
 * Inserts the row `TURN` as a copy of this client, runs the work, and deletes the row. Such
 * transactions run one at a time.
 */
export async function inTurn<T>(
  connection: SqlConnection,
  client: Client,
  work: () => Promise<T>,
): Promise<T> {
  await insertClient(connection, { ...client, id: TURN });
  const result = await work();
  await connection.execute('DELETE FROM oauth_clients WHERE client_id = ?', [TURN]);
  return result;
}

/** Oldest first. */
export async function listClients(connection: SqlConnection): Promise<readonly Client[]> {
  const { rows } = await connection.execute<ClientRow>(
    `SELECT ${CLIENT_COLUMNS} FROM oauth_clients ORDER BY created_at, client_id`,
  );
  return rows.map(toClient);
}
