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

/** A client that a document describes, with the data that the server last stored. */
export interface DocumentClient {
  readonly client: Client;
  /**
   * When the document must be fetched again, in milliseconds since 1970. Until then, the stored
   * data is used.
   */
  readonly freshUntil: number;
}

/**
 * Reads and writes document clients: rows in `oauth_clients` whose id is the URL of a document.
 * Each row contains the data of the document that the server last showed to a user.
 */
export class DocumentClientRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns the client whose id is this URL, and until when its document is fresh. Also returns
   * revoked clients.
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
   * Stores the document's current contents. Returns `known` if the client already existed, and
   * `new` if it did not exist. Changes nothing and returns `revoked` if the client is revoked, or
   * if an operator unblocked it after this process read the document.
   *
   * `replaces` is the row's `freshUntil` before the document was fetched, or null if there was no
   * row. If another process has stored different contents since, the server cannot know which
   * contents are newer. Then marks the stored contents as stale and returns `overtaken`.
   */
  async keepDocumentClient(
    client: Client,
    freshUntil: number,
    replaces: number | null,
  ): Promise<'new' | 'known' | 'overtaken' | 'revoked'> {
    if (await this.#update(client, freshUntil, replaces)) return 'known';
    const values = [...clientValues(client), freshUntil];
    if (await insertIfNone(this.#database, INSERT, '(client_id)', values)) return 'new';
    // The insert failed: another process has stored the client, or an operator has blocked the
    // client.
    if (await this.#update(client, freshUntil, replaces)) return 'known';
    return this.#distrust(client);
  }

  /**
   * Unblocks a revoked document client and treats it as a new client. Until its document is stored
   * again, the client has no redirect URIs and no grants. The client's earlier authorizations and
   * tokens end, including tokens that are just being issued. Returns false if the client is not
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
   * Updates the row. Returns false if the row contains neither the replaced contents nor the new
   * contents.
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
   * Marks the stored contents as stale if they differ from the contents of this client's document.
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

/** Returns the values that come from the document, in the order of `UPDATE`. */
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
 * Unblocks the client. Updates its row first, so that other transactions see the client unblocked
 * only after its earlier authorizations have ended.
 *
 * Ends consent requests before authorizations. A user may answer a consent request at the same
 * time. Either this function waits for the answer and then finds its authorization, or the answer
 * finds that the request has ended.
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
 * Waits until every other transaction that writes the client's row has ended. Then returns whether
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
 * Returns the keys of the client's rows. Takes no locks: no index contains the client, so locks
 * would also cover other clients' rows.
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
 * Finds the client's waiting and pushed requests by a pattern, because the parameters of requests
 * are stored as JSON. If the client's URL contains `_` or `%`, the pattern matches too many rows,
 * so each result is checked again.
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
 * Writes rows in the order of their keys. Every function that writes several of these rows uses
 * this order, which prevents deadlocks.
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

/** Marks the contents as stale. The negative time still identifies them. */
const DISTRUST = `UPDATE oauth_clients SET document_fresh_until = -ABS(document_fresh_until) WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NULL
  AND grants <> ''`;

/**
 * Removes the client's redirect URIs and grants. Portico stores them again when a process next
 * reads the client's document.
 */
const UNBLOCK = `UPDATE oauth_clients SET revoked_at = NULL, redirect_uris = '[]', grants = '', created_at = ?, document_fresh_until = ?
  WHERE client_id = ? AND registered_by = 'document' AND revoked_at IS NOT NULL`;
