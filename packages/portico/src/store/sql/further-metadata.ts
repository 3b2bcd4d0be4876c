import { getDialect, type Database, type Migration, type SqlConnection } from '@portico/sql';
import type { OrderedBatch } from '../batches.ts';
import { placeholders } from './statements.ts';

/** The client metadata fields of features, as JSON: a list of strings for each field. */
const table: Migration = {
  name: 'oauth_server_client_metadata_0001_table',
  async up({ change, types }) {
    const { identifier, text, tableOptions } = types;
    await change(`CREATE TABLE oauth_client_metadata (
      client_id ${identifier} NOT NULL PRIMARY KEY,
      metadata ${text} NOT NULL
    ) ${tableOptions}`);
  },
};

/** A server uses these migrations only if a feature adds client metadata. */
export const furtherMetadataMigrations: readonly Migration[] = [table];

/** How many clients one statement reads or writes. */
const BATCH = 500;

type Stored = Readonly<Record<string, readonly string[]>>;

export class FurtherMetadataRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(clientId: string, connection: SqlConnection = this.#database): Promise<Stored> {
    const { rows } = await connection.execute<{ metadata: string }>(
      'SELECT metadata FROM oauth_client_metadata WHERE client_id = ?',
      [clientId],
    );
    return rows[0] === undefined ? {} : (JSON.parse(rows[0].metadata) as Stored);
  }

  /** Returns the fields by client id. Omits clients without fields. */
  async findAll(
    clientIds: readonly string[],
    connection: SqlConnection = this.#database,
  ): Promise<readonly (readonly [clientId: string, fields: Stored])[]> {
    const found: (readonly [string, Stored])[] = [];
    for (let from = 0; from < clientIds.length; from += BATCH) {
      const ids = clientIds.slice(from, from + BATCH);
      const { rows } = await connection.execute<{ client_id: string; metadata: string }>(
        `SELECT client_id, metadata FROM oauth_client_metadata
        WHERE client_id IN (${placeholders(ids)})`,
        ids,
      );
      for (const { client_id: id, metadata } of rows)
        found.push([id, JSON.parse(metadata) as Stored]);
    }
    return found;
  }

  /**
   * Reads the first `limit` rows after the client id `after`, and removes those whose client no
   * longer exists.
   */
  async removeLeft(limit: number, after: string): Promise<OrderedBatch> {
    // Look up the client for each row. With a join, PostgreSQL would read all earlier clients.
    const { rows } = await this.#database.execute<{ client_id: string; living: string | null }>(
      `SELECT m.client_id, (SELECT c.client_id FROM oauth_clients c
        WHERE c.client_id = m.client_id) AS living FROM oauth_client_metadata m
      WHERE m.client_id > ? ORDER BY m.client_id LIMIT ${limit}`,
      [after],
    );
    const left = rows.filter(({ living }) => living === null).map(({ client_id: id }) => id);
    const count = left.length === 0 ? 0 : await this.#remove(left);
    const last = rows.length === limit ? (rows.at(-1)?.client_id ?? null) : null;
    return { count, more: last !== null, last };
  }

  /** Keeps the rows of a client that was registered again in the meantime. */
  #remove(ids: readonly string[]): Promise<number> {
    const these = `client_id IN (${placeholders(ids)})`;
    return this.#database.transaction(async (connection) => {
      // Lock the rows with a write first. The DELETE then sees every client that wrote its row.
      await connection.execute(
        `UPDATE oauth_client_metadata SET client_id = client_id WHERE ${these}`,
        ids,
      );
      const { affected } = await connection.execute(
        `DELETE FROM oauth_client_metadata WHERE ${these} AND NOT EXISTS
        (SELECT 1 FROM oauth_clients c WHERE c.client_id = oauth_client_metadata.client_id)`,
        ids,
      );
      return affected;
    });
  }

  /** Writes the fields of new clients. Removes those of earlier clients that had the same ids. */
  async writeNew(
    connection: SqlConnection,
    clients: readonly (readonly [clientId: string, fields: Stored])[],
  ): Promise<void> {
    for (let from = 0; from < clients.length; from += BATCH) {
      const some = clients.slice(from, from + BATCH);
      const ids = some.map(([id]) => id);
      await connection.execute(
        `DELETE FROM oauth_client_metadata WHERE client_id IN (${placeholders(ids)})`,
        ids,
      );
      const having = some.filter(([, fields]) => Object.keys(fields).length > 0);
      if (having.length === 0) continue;
      await connection.execute(
        `INSERT INTO oauth_client_metadata (client_id, metadata)
        VALUES ${having.map(() => '(?, ?)').join(', ')}`,
        having.flatMap(([id, fields]) => [id, JSON.stringify(fields)]),
      );
    }
  }

  /** Writes these fields in the caller's transaction. The other fields stay the same. */
  async write(connection: SqlConnection, clientId: string, fields: Stored): Promise<void> {
    const row = 'oauth_client_metadata (client_id, metadata) VALUES (?, ?)';
    // Lock the row with a write first. The read then sees the latest fields.
    const claim = getDialect(this.#database).insertIfNone(row, '(client_id)');
    await connection.execute(claim, [clientId, '{}']);
    await connection.execute(
      'UPDATE oauth_client_metadata SET client_id = client_id WHERE client_id = ?',
      [clientId],
    );
    const { rows } = await connection.execute<{ metadata: string }>(
      'SELECT metadata FROM oauth_client_metadata WHERE client_id = ?',
      [clientId],
    );
    const before = JSON.parse(rows[0]?.metadata ?? '{}') as Stored;
    await connection.execute('UPDATE oauth_client_metadata SET metadata = ? WHERE client_id = ?', [
      JSON.stringify({ ...before, ...fields }),
      clientId,
    ]);
  }
}
