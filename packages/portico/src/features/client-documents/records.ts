import { type Database, insertIfNone, type SqlConnection, type SqlParameter } from '@portico/sql';
import type { Client } from '../../store/client.ts';
import {
  CLIENT_COLUMNS,
  clientValues,
  keyValues,
  SET_KEYS,
  toClient,
  type ClientRow,
} from '../../store/sql/client-rows.ts';
import { insertInto, placeholders } from '../../store/sql/statements.ts';

/** A document client, with the data that the server last stored about it. */
export interface DocumentClient {
  readonly client: Client;
  /**
   * When the server must fetch the document again, in milliseconds since 1970. Until then, it uses
   * the stored data.
   */
  readonly freshUntil: number;
}

/**
 * Reads and writes document clients, which are the rows in `oauth_clients` whose id is the URL of a
 * document. Each row contains the document's data that the server last used for an authorization
 * request of a signed-in user.
 */
export class DocumentClientRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns the client with this URL as its id, and the time until which its document is fresh.
   * Also returns a client that is revoked.
   */
  async findDocumentClient(url: string): Promise<DocumentClient | null> {
    const { rows } = await this.#database.execute<
      ClientRow & { document_fresh_until: number | null }
    >(FIND, [url]);
    const row = rows.find((found) => found.client_id === url);
    return row === undefined
      ? null
      : { client: toClient(row), freshUntil: row.document_fresh_until ?? 0 };
  }

  /**
   * Stores the current contents of the client's document. Returns `known` if the client was already
   * stored, and `new` if it was not. If the client is revoked, or if an operator has unblocked it
   * since this process read the document, changes nothing and returns `revoked`.
   *
   * `replaces` is the value of `freshUntil` in the row before the document was fetched, or null if
   * there was no row. If another process has stored different contents since then, the server
   * cannot know which contents are newer. In that case, marks the stored contents as stale and
   * returns `overtaken`.
   */
  async keepDocumentClient(
    client: Client,
    freshUntil: number,
    replaces: number | null,
  ): Promise<'new' | 'known' | 'overtaken' | 'revoked'> {
    if (await this.#update(client, freshUntil, replaces)) return 'known';
    const values = [...clientValues(client), freshUntil];
    if (await insertIfNone(this.#database, INSERT, '(client_id)', values)) return 'new';
    // The insert added nothing because the row exists. Try the update again, because another
    // process may have just added the row.
    if (await this.#update(client, freshUntil, replaces)) return 'known';
    return this.#distrust(client);
  }

  /**
   * Unblocks a revoked document client and treats it as a new client. The client has no redirect
   * URIs and no grants until its document is stored again. Its earlier authorizations and tokens
   * end, including tokens that the server is just issuing. Returns false if the client is not
   * revoked.
   */
  unblockDocumentClient(url: string, now: number): Promise<boolean> {
    return this.#database.transaction(
      (connection) => unblock(connection, url, now),
      async (_, wasBlocked) =>
        !wasBlocked || this.#database.transaction((connection) => isUnblocked(connection, url)),
    );
  }

  /**
   * Updates the client's row. Changes nothing and returns false if the row contains neither the
   * replaced contents nor the new contents, or if the client is blocked. Does the same if there is
   * no row, or if an operator has unblocked the client since the document was fetched.
   */
  async #update(client: Client, freshUntil: number, replaces: number | null): Promise<boolean> {
    const { affected } = await this.#database.execute(UPDATE, [
      ...contentsOf(client),
      freshUntil,
      client.id,
      client.createdAt,
      replaces ?? freshUntil,
      freshUntil,
    ]);
    return affected === 1;
  }

  /**
   * Marks the stored contents as stale, if they differ from the contents of this client's document.
   * Returns `revoked` if the client is blocked, or has just been unblocked.
   */
  async #distrust(client: Client): Promise<'known' | 'overtaken' | 'revoked'> {
    const { client: kept = null } = (await this.findDocumentClient(client.id)) ?? {};
    if (kept?.registeredBy !== 'document' || kept.revokedAt !== null || kept.grants.length === 0)
      return 'revoked';
    if (JSON.stringify(contentsOf(kept)) === JSON.stringify(contentsOf(client))) return 'known';
    const { affected } = await this.#database.execute(DISTRUST, [client.id]);
    return affected === 1 ? 'overtaken' : 'revoked';
  }
}

/** Returns the values that come from the document, in the order in which `UPDATE` uses them. */
function contentsOf(client: Client): readonly SqlParameter[] {
  return [
    client.name,
    JSON.stringify(client.redirectUris),
    client.scopes.join(' '),
    client.grants.join(' '),
    client.applicationType,
    client.idTokenSignedResponseAlg,
    client.public ? 1 : 0,
    ...keyValues(client),
  ];
}

/**
 * Unblocks the client. Updates the client's row first, so that other transactions see the client as
 * unblocked only after its earlier authorizations have ended.
 *
 * Ends consent requests before authorizations, because a user may answer a consent request at the
 * same time. Either this function waits for the answer and then finds the new authorization, or the
 * answer finds that the consent request has ended.
 */
async function unblock(connection: SqlConnection, url: string, now: number): Promise<boolean> {
  const { affected } = await connection.execute(UNBLOCK, [now, now, url]);
  if (affected !== 1) return false;
  const questions = await getKeys(
    connection,
    'SELECT id_hash AS found FROM oauth_consent_requests WHERE client_id = ? AND outcome IS NULL',
    url,
  );
  await each(questions, (keys) =>
    connection.execute(
      `UPDATE oauth_consent_requests SET outcome = 'void' WHERE id_hash IN ` +
        `(${placeholders(keys)}) AND outcome IS NULL`,
      keys,
    ),
  );
  await each(await findWaiting(connection, url), (keys) =>
    connection.execute(
      `DELETE FROM oauth_waiting_requests WHERE secret_hash IN (${placeholders(keys)})`,
      keys,
    ),
  );
  const families = await getKeys(
    connection,
    'SELECT id AS found FROM oauth_families WHERE client_id = ? AND revoked_at IS NULL',
    url,
  );
  await each(families, (keys) =>
    connection.execute(
      `UPDATE oauth_families SET revoked_at = ? WHERE id IN (${placeholders(keys)}) AND ` +
        'revoked_at IS NULL',
      [now, ...keys],
    ),
  );
  const ownTokens = await getKeys(
    connection,
    'SELECT id AS found FROM oauth_access_tokens WHERE client_id = ? AND family_id IS NULL',
    url,
  );
  await each(ownTokens, (keys) =>
    connection.execute(`DELETE FROM oauth_access_tokens WHERE id IN (${placeholders(keys)})`, keys),
  );
  return true;
}

/**
 * Waits until all other transactions that write the client's row have ended. Then returns whether
 * the client is unblocked.
 */
async function isUnblocked(connection: SqlConnection, url: string): Promise<boolean> {
  await connection.execute('UPDATE oauth_clients SET revoked_at = revoked_at WHERE client_id = ?', [
    url,
  ]);
  const { rows } = await connection.execute(
    'SELECT 1 FROM oauth_clients WHERE client_id = ? AND revoked_at IS NULL',
    [url],
  );
  return rows.length > 0;
}

/**
 * Returns the keys of the rows that belong to the client. Takes no locks, because no index contains
 * the client id, so locks would also affect the rows of other clients.
 */
async function getKeys(
  connection: SqlConnection,
  select: string,
  url: string,
): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ found: string }>(select, [url]);
  return rows.map(({ found }) => found);
}

/**
 * Finds the client's waiting and pushed requests. Searches with a pattern, because the parameters
 * of requests are stored as JSON. If the client's URL contains `_` or `%`, the pattern also matches
 * other rows, so each result is checked again.
 */
async function findWaiting(connection: SqlConnection, url: string): Promise<readonly string[]> {
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

/**
 * Writes rows in the order of their keys. To prevent deadlocks, every function that writes several
 * of these rows uses this order.
 */
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
  AND (grants <> '' OR created_at <= ?) AND COALESCE(document_fresh_until, 0) IN (?, ?)`;

/**
 * Marks the stored contents as stale by making the time negative. The time still identifies these
 * contents.
 */
const DISTRUST = `UPDATE oauth_clients SET document_fresh_until = -ABS(document_fresh_until) WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NULL
  AND grants <> ''`;

/**
 * Removes the client's redirect URIs and grants. Portico stores them again after it has next read
 * the client's document.
 */
const UNBLOCK = `UPDATE oauth_clients SET revoked_at = NULL, redirect_uris = '[]', grants = '', created_at = ?, document_fresh_until = ?
  WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NOT NULL`;
