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
import { isThisClient } from '../../store/sql/client-statements.ts';
import { insertInto, placeholders } from '../../store/sql/statements.ts';

/** A document client, with the data that the server last stored about it. */
export interface DocumentClient {
  readonly client: Client;
  /** When the server must fetch the document again, in milliseconds since 1970. */
  readonly freshUntil: number;
}

/**
 * Reads and writes document clients: the rows in `oauth_clients` whose id is the URL of a document.
 * A row contains the document that the server last used for an authorization request of a signed-in
 * user.
 */
export class DocumentClientRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the client with this URL, even if it is revoked. */
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
   * Stores the contents of the client's document. Returns `known` if the client was stored before,
   * and `new` if not. Returns `revoked` and changes nothing if the client is revoked, or was
   * unblocked since this process read the document.
   *
   * `replaces` is the row's `freshUntil` before the fetch, or null. If another process has stored
   * other contents since then, the server cannot know which are newer. It then marks the stored
   * contents as stale and returns `overtaken`.
   */
  async keepDocumentClient(
    client: Client,
    freshUntil: number,
    replaces: number | null,
  ): Promise<'new' | 'known' | 'overtaken' | 'revoked'> {
    if (await this.#update(client, freshUntil, replaces)) return 'known';
    if (await this.#insert(client, freshUntil)) return 'new';
    // The insert added nothing because the row exists. Try the update again, because another
    // process may have just added the row.
    if (await this.#update(client, freshUntil, replaces)) return 'known';
    return this.#distrust(client);
  }

  /**
   * Inserts the client's row. Returns false if a row with this id exists. If the store's response
   * was lost, inserts the row again, which waits for the lost statement, and then finds out whose
   * row it is.
   */
  #insert(client: Client, freshUntil: number): Promise<boolean> {
    const values = [...clientValues(client), freshUntil];
    const insert = (committed?: () => Promise<boolean>) =>
      insertIfNone(this.#database, INSERT, '(client_id)', values, committed);
    return insert(
      async () =>
        (await insert()) ||
        // Write the row again, because a read may return a row that the standbys do not have.
        ((await isThisClient(this.#database, client)) &&
          (await this.#update(client, freshUntil, null))),
    );
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
   * Returns false and changes nothing if there is no row, or if its contents are neither the
   * replaced nor the new ones. Does the same if the client is blocked, or was unblocked since the
   * fetch.
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
   * Marks stored contents as stale if they differ from this client's document. Returns `revoked` if
   * the client is blocked or was just unblocked.
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

/** Returns the values in the order that `UPDATE` uses. */
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
 * Unblocks the client. Updates its row first, so other transactions see it as unblocked only after
 * its earlier authorizations have ended.
 *
 * Ends consent requests before authorizations. A user may answer one at the same time. Either this
 * function waits for the answer and finds the new authorization, or the answer finds that the
 * consent request has ended.
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
 * Waits for all other transactions that write the client's row. Then returns true if the client is
 * unblocked.
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
 * Takes no locks. No index contains the client id, so locks would affect the rows of other clients.
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
 * Finds the client's waiting and pushed requests with a pattern, because their parameters are JSON.
 * In the pattern, `_` and `%` in a URL also match other rows, so each result is checked again.
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
 * Writes rows in the order of their keys. All functions that write several of these rows use this
 * order, which prevents deadlocks.
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

/** A negative time marks the contents as stale and still identifies them. */
const DISTRUST = `UPDATE oauth_clients SET document_fresh_until = -ABS(document_fresh_until) WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NULL
  AND grants <> ''`;

/** Portico stores the redirect URIs and grants again after it has read the client's document. */
const UNBLOCK = `UPDATE oauth_clients SET revoked_at = NULL, redirect_uris = '[]', grants = '', created_at = ?, document_fresh_until = ?
  WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NOT NULL`;
