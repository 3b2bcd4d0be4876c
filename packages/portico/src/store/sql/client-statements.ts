import type { SqlConnection } from '@portico/sql';
import type { Client, ClientAddition, ClientLogo } from '../client.ts';
import { CLIENT_COLUMNS, clientValues, toClient, type ClientRow } from './client-rows.ts';
import { replaceLogo } from './logos.ts';
import { exists, insertInto } from './statements.ts';

/** Inserts a client's row. The values come from `clientValues`. */
export const INSERT_CLIENT = insertInto('oauth_clients', CLIENT_COLUMNS);

const FIND_CLIENT = `SELECT ${CLIENT_COLUMNS} FROM oauth_clients WHERE client_id = ?`;

/**
 * Matches valid client ids. Other strings are never sent to the database, because some engines
 * reject them.
 */
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** Returns the stored client with this id. Accepts any string. */
export async function findClient(connection: SqlConnection, id: string): Promise<Client | null> {
  if (!CLIENT_ID.test(id)) return null;
  const { rows } = await connection.execute<ClientRow>(FIND_CLIENT, [id]);
  // Compare the client id again, because some collations ignore trailing spaces.
  const row = rows.find((found) => found.client_id === id);
  return row === undefined ? null : toClient(row);
}

/** Inserts the client without its logo. */
export async function insertClient(connection: SqlConnection, client: Client): Promise<void> {
  await connection.execute(INSERT_CLIENT, clientValues(client));
}

/** Data to write in the same transaction as a client. */
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

/**
 * Inserts all of these clients or none. Returns the first id that already exists, or null if none
 * of the ids exists.
 */
export async function insertAll(
  connection: SqlConnection,
  clients: readonly Client[],
): Promise<string | null> {
  for (const { id } of clients)
    if (await exists(connection, 'oauth_clients', 'client_id', id)) return id;
  for (const client of clients) await insertClient(connection, client);
  return null;
}

/**
 * Returns whether the stored client equals this client. Returns false if another client now has the
 * same id.
 */
export async function isThisClient(connection: SqlConnection, client: Client): Promise<boolean> {
  const { rows } = await connection.execute<ClientRow>(FIND_CLIENT, [client.id]);
  const values = JSON.stringify(clientValues(client));
  return rows.some((row) => JSON.stringify(clientValues(toClient(row))) === values);
}

/**
 * The id of a row that serves as a lock for work that depends on all clients. A transaction inserts
 * the row first and deletes it last, so other transactions never see the row. On every engine, a
 * second insert of this id waits until the first transaction has ended.
 */
export const TURN = 'one at a time';

/**
 * Inserts the row `TURN`, a copy of this client, then runs the work and deletes the row.
 * Transactions that do this run one at a time.
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

/** Returns all clients, oldest first. */
export async function listClients(connection: SqlConnection): Promise<readonly Client[]> {
  const { rows } = await connection.execute<ClientRow>(
    `SELECT ${CLIENT_COLUMNS} FROM oauth_clients ORDER BY created_at, client_id`,
  );
  return rows.map(toClient);
}
