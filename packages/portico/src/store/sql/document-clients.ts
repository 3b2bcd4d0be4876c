import { type Database, insertIfNone, type SqlConnection } from '@portico/sql';
import type { Client, DocumentClient } from '../client.ts';
import {
  CLIENT_COLUMNS,
  clientValues,
  keyValues,
  SET_KEYS,
  toClient,
  type ClientRow,
} from './client-rows.ts';
import { insertInto, placeholders } from './statements.ts';

/** Rows of `oauth_clients` whose id is the URL of a document, each as the document was when a person was last shown it anew. */
export class DocumentClientRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The client whose id is the URL of a document, also a revoked one, and until when the document need not be fetched again. */
  async findDocumentClient(url: string): Promise<DocumentClient | null> {
    const { rows } = await this.#database.execute<ClientRow & { document_fresh_until: number | null }>(FIND, [
      url,
    ]);
    const row = rows.find((found) => found.client_id === url);
    return row === undefined ? null : { client: toClient(row), freshUntil: row.document_fresh_until ?? 0 };
  }

  /**
   * Keeps what the document says of the client now, and whether it was there before. When it was revoked nothing is changed, nor when it
   * was unblocked after this was read.
   */
  async keepDocumentClient(client: Client, freshUntil: number): Promise<'new' | 'known' | 'revoked'> {
    if (await this.#update(client, freshUntil)) return 'known';
    const values = [...clientValues(client), freshUntil];
    if (await insertIfNone(this.#database, INSERT, '(client_id)', values)) return 'new';
    // Another process was quicker, or an operator, who blocked it.
    return (await this.#update(client, freshUntil)) ? 'known' : 'revoked';
  }

  /**
   * Lets a document's client that was revoked be one again, as one begun now, without redirect URIs and grants until its document is
   * kept. Everything that it was given before has ended by then, also what is being issued at this moment. False when it is not revoked.
   */
  unblockDocumentClient(url: string, now: number): Promise<boolean> {
    return this.#database.transaction(
      (connection) => unblock(connection, url, now),
      async (_, wasBlocked) =>
        !wasBlocked || this.#database.transaction((connection) => isUnblocked(connection, url)),
    );
  }

  async #update(client: Client, freshUntil: number): Promise<boolean> {
    const { affected } = await this.#database.execute(UPDATE, [
      client.name,
      JSON.stringify(client.redirectUris),
      client.scopes.join(' '),
      client.grants.join(' '),
      client.applicationType,
      client.idTokenSignedResponseAlg,
      client.public ? 1 : 0,
      ...keyValues(client),
      freshUntil,
      client.id,
      client.createdAt,
    ]);
    return affected === 1;
  }
}

/**
 * The row is claimed first, and lives for others only when all of before has ended with it. Questions end before authorizations: whoever
 * answers one at this moment is waited for, or finds it ended, and so none begins an authorization that is not seen here.
 */
async function unblock(connection: SqlConnection, url: string, now: number): Promise<boolean> {
  const { affected } = await connection.execute(UNBLOCK, [now, now, url]);
  if (affected !== 1) return false;
  const questions = await keysOf(
    connection,
    'SELECT id_hash AS found FROM oauth_consent_requests WHERE client_id = ? AND outcome IS NULL',
    url,
  );
  await each(questions, (keys) =>
    connection.execute(
      `UPDATE oauth_consent_requests SET outcome = 'void' WHERE id_hash IN (${placeholders(keys)}) AND outcome IS NULL`,
      keys,
    ),
  );
  await each(await waitingOf(connection, url), (keys) =>
    connection.execute(
      `DELETE FROM oauth_waiting_requests WHERE secret_hash IN (${placeholders(keys)})`,
      keys,
    ),
  );
  const families = await keysOf(
    connection,
    'SELECT id AS found FROM oauth_families WHERE client_id = ? AND revoked_at IS NULL',
    url,
  );
  await each(families, (keys) =>
    connection.execute(
      `UPDATE oauth_families SET revoked_at = ? WHERE id IN (${placeholders(keys)}) AND revoked_at IS NULL`,
      [now, ...keys],
    ),
  );
  const ownTokens = await keysOf(
    connection,
    'SELECT id AS found FROM oauth_access_tokens WHERE client_id = ? AND family_id IS NULL',
    url,
  );
  await each(ownTokens, (keys) =>
    connection.execute(`DELETE FROM oauth_access_tokens WHERE id IN (${placeholders(keys)})`, keys),
  );
  return true;
}

/** Whether it is not blocked, once whoever writes its row has ended. */
async function isUnblocked(connection: SqlConnection, url: string): Promise<boolean> {
  await connection.execute('UPDATE oauth_clients SET revoked_at = revoked_at WHERE client_id = ?', [url]);
  const { rows } = await connection.execute(
    'SELECT 1 FROM oauth_clients WHERE client_id = ? AND revoked_at IS NULL',
    [url],
  );
  return rows.length > 0;
}

/** Read without a lock and written by name: no index has the client, and nobody else's rows are to be waited for. */
async function keysOf(connection: SqlConnection, select: string, url: string): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ found: string }>(select, [url]);
  return rows.map(({ found }) => found);
}

/** What waits for somebody to sign in, or was pushed, is kept as it was sent: the pattern finds too much where the URL has a `_` or `%`. */
async function waitingOf(connection: SqlConnection, url: string): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ found: string; parameters: string }>(
    'SELECT secret_hash AS found, parameters FROM oauth_waiting_requests WHERE parameters LIKE ?',
    [`%${JSON.stringify(['client_id', url])}%`],
  );
  const isOf = (parameters: string) =>
    (JSON.parse(parameters) as readonly (readonly string[])[]).some(
      ([name, value]) => name === 'client_id' && value === url,
    );
  return rows.filter(({ parameters }) => isOf(parameters)).map(({ found }) => found);
}

const AT_ONCE = 500;

/** In the order of their keys, as whoever else writes several of them. */
async function each(
  keys: readonly string[],
  end: (some: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const ordered = keys.toSorted();
  for (let first = 0; first < ordered.length; first += AT_ONCE) {
    await end(ordered.slice(first, first + AT_ONCE));
  }
}

const COLUMNS = `${CLIENT_COLUMNS}, document_fresh_until`;

const FIND = `SELECT ${COLUMNS} FROM oauth_clients WHERE client_id = ?`;

const INSERT = insertInto('oauth_clients', COLUMNS).slice('INSERT INTO '.length);

const UPDATE = `UPDATE oauth_clients SET name = ?, redirect_uris = ?, scope = ?, grants = ?, application_type = ?,
  id_token_alg = ?, is_public = ?, ${SET_KEYS}, document_fresh_until = ? WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NULL
  AND (grants <> '' OR created_at <= ?)`;

/** Nothing of what it was allowed to be is left until its document has been read again, and not by somebody who read it before this. */
const UNBLOCK = `UPDATE oauth_clients SET revoked_at = NULL, redirect_uris = '[]', grants = '', created_at = ?, document_fresh_until = ?
  WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NOT NULL`;
