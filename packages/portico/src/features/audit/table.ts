import { type Database, type Dialect, getDialect, type SqlParameter } from '@portico/sql';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import type { PersonReference } from '../../person.ts';
import { placeholders, removeWhere } from '../../store/sql/statements.ts';
import type { AuditStore } from './keeping.ts';
import type { AuditTable, Axis, IdRange, RecordKey } from './kept-audit.ts';

/**
 * The table `oauth_audit` with the stored events. A row changes only when a user in it is erased: a
 * pseudonym replaces the user.
 */
export class AuditRecords implements AuditStore, AuditTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  isUnavailable(error: unknown): boolean {
    return this.#database.isUnavailable(error);
  }

  async insert(records: readonly AuditRecord[]): Promise<void> {
    const rows = records.map(() => ROW).join(', ');
    await this.#database.execute(
      `INSERT INTO oauth_audit (${COLUMNS}) VALUES ${rows}`,
      records.flatMap(values),
    );
  }

  async newest(axis: Axis | null, range: IdRange, limit: number): Promise<readonly AuditRecord[]> {
    return (await this.#select<Row>(COLUMNS, axis, range, `LIMIT ${limit}`)).map(toRecord);
  }

  async keys(axis: Axis, range: IdRange, limit: number): Promise<readonly RecordKey[]> {
    return (await this.#select<KeyRow>(KEY_COLUMNS, axis, range, `LIMIT ${limit}`)).map(toKey);
  }

  async reach(axis: Axis, range: IdRange, depth: number): Promise<string | null> {
    const rows = await this.#select<{ id: string }>(
      'id',
      axis,
      range,
      `LIMIT 1 OFFSET ${depth - 1}`,
    );
    return rows[0]?.id ?? null;
  }

  async read(ids: readonly string[]): Promise<readonly AuditRecord[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS} FROM oauth_audit WHERE id IN (${placeholders(ids)}) ORDER BY id DESC`,
      ids,
    );
    return rows.map(toRecord);
  }

  async replacePerson(person: PersonReference, pseudonym: string, limit: number): Promise<number> {
    const about = await this.#replace(['user_provider', 'user_id'], person, pseudonym, limit);
    return about + (await this.#replace(['by_provider', 'by_id'], person, pseudonym, limit));
  }

  removeBefore(id: string, limit: number): Promise<number> {
    return removeWhere(this.#database, ['oauth_audit', 'id'], ['id', '< ?', [id]], limit);
  }

  async #select<T>(
    columns: string,
    axis: Axis | null,
    range: IdRange,
    limit: string,
  ): Promise<readonly T[]> {
    const { where, order, parameters } = getRange(getDialect(this.#database), axis, range);
    const { rows } = await this.#database.execute<T>(
      `SELECT ${columns} FROM oauth_audit WHERE ${where} ORDER BY ${order} ${limit}`,
      parameters,
    );
    return rows;
  }

  /**
   * Replaces a user with the pseudonym `by` in at most `limit` rows. The first parameter names the
   * columns of the user. Returns the number of changed rows.
   */
  async #replace(
    [provider, id]: PersonColumns,
    person: PersonReference,
    by: string,
    limit: number,
  ): Promise<number> {
    const { rows } = await this.#database.execute<{ id: string }>(
      `SELECT id FROM oauth_audit WHERE ${provider} = ? AND ${id} = ? ORDER BY ${provider}, ` +
        `${id}, id LIMIT ${limit}`,
      [person.provider, person.id],
    );
    if (rows.length === 0) return 0;
    const ids = rows.map((row) => row.id);
    // Select the rows only by id. With the user in the condition, MariaDB would lock all rows of
    // that user. A row never changes to another user. Also clear the address and the request id,
    // because they could identify the user.
    const update =
      `UPDATE oauth_audit SET ${id} = ?, address = NULL, request_id = NULL WHERE id IN ` +
      `(${placeholders(ids)})`;
    return (await this.#database.execute(update, [by, ...ids])).affected;
  }
}

type PersonColumns = readonly [provider: string, id: string];

const KEY_COLUMNS = 'id, type, client_id, family_id, user_provider, user_id';
const COLUMNS = `${KEY_COLUMNS}, happened_at, by_provider, by_id, address, request_id, reason, details`;
const ROW = `(${COLUMNS.replaceAll(/\w+/g, '?')})`;

/** Returns the condition and the order of a query for matching rows in the range, newest first. */
function getRange(dialect: Dialect, axis: Axis | null, { from, before }: IdRange) {
  const [columns, values] = axis === null ? [[], []] : getColumns(axis);
  const [first] = columns;
  // Some databases plan a statement without its values, and assume that every event type is
  // frequent. For a rare type, they would search the whole table from the end. With the type in
  // `ORDER BY`, only the index on these columns fits.
  const ordered = dialect.plansWithoutValues && first !== undefined ? `${first} DESC, ` : '';
  const is = (column: string) => (column === first ? dialect.isValue(column) : `${column} = ?`);
  return {
    where: [...columns.map(is), 'id >= ?', 'id < ?'].join(' AND '),
    order: `${ordered}id DESC`,
    parameters: [...values, from, before],
  };
}

function getColumns(axis: Axis): readonly [columns: readonly string[], values: readonly string[]] {
  if ('type' in axis) return [['type'], [axis.type]];
  if ('clientId' in axis) return [['client_id'], [axis.clientId]];
  if ('authorization' in axis) return [['family_id'], [axis.authorization]];
  return [
    ['user_provider', 'user_id'],
    [axis.person.provider, axis.person.id],
  ];
}

interface KeyRow {
  readonly id: string;
  readonly type: AuditRecord['type'];
  readonly client_id: string | null;
  readonly family_id: string | null;
  readonly user_provider: string | null;
  readonly user_id: string | null;
}

interface Row extends KeyRow {
  readonly happened_at: number;
  readonly by_provider: string | null;
  /** The user's id if `by_provider` is not null. Otherwise `console` or null. */
  readonly by_id: string | null;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly reason: string | null;
  readonly details: string;
}

const CONSOLE = 'console';

function values(record: AuditRecord): readonly SqlParameter[] {
  const { person, by } = record;
  const [byProvider, byId] =
    by === null ? [null, null] : by === 'console' ? [null, CONSOLE] : [by.provider, by.id];
  return [
    record.id,
    record.type,
    record.clientId,
    record.authorization,
    person?.provider ?? null,
    person?.id ?? null,
    record.at,
    byProvider,
    byId,
    record.address,
    record.requestId,
    record.reason,
    JSON.stringify(record.details),
  ];
}

function toKey(row: KeyRow): RecordKey {
  const { id, type, client_id: clientId, family_id: authorization } = row;
  return { id, type, clientId, authorization, person: getPerson(row.user_provider, row.user_id) };
}

function getPerson(provider: string | null, id: string | null): PersonReference | null {
  return provider === null || id === null ? null : { provider, id };
}

function toRecord(row: Row): AuditRecord {
  return {
    ...toKey(row),
    at: row.happened_at,
    by: getPerson(row.by_provider, row.by_id) ?? (row.by_id === CONSOLE ? 'console' : null),
    address: row.address,
    requestId: row.request_id,
    reason: row.reason,
    details: JSON.parse(row.details) as Readonly<Record<string, unknown>>,
  };
}
