import type { PersonReference } from '../../../contracts/person.ts';
import type { Database, SqlDialect, SqlParameter } from '../../../sql/contract.ts';
import type { RegisteredBy } from '../client.ts';
import type { AuthorizationFilter, HeldAuthorization, HeldRange, HoldingClient } from '../held.ts';
import type { Store } from '../store.ts';
import { removeFamilies } from './families.ts';
import { confirmRevocation, placeholders, words, type Condition } from './statements.ts';

/** What an administrator sees of authorizations and people, and ends. */
export function accessTables(database: Database) {
  const { dialect } = database;

  /** The lowest id of the rows to be looked at, and whether there are more below it. */
  async function boundsOf(driver: Driver, { above, examine }: HeldRange): Promise<Bounds | null> {
    const { rows } = await database.execute<{ found: number; lowest: string | null }>(
      `SELECT COUNT(*) AS found, MIN(s.id) AS lowest FROM (
        SELECT f.id FROM oauth_families f WHERE ${driver.sql} ORDER BY ${driver.order} LIMIT ${examine}
      ) s`,
      driver.parameters,
    );
    const [{ found, lowest } = NOTHING] = rows;
    if (lowest === null) return null;
    return above !== null && lowest <= above
      ? { lowest: above, isAll: true }
      : { lowest, isAll: found < examine };
  }

  async function clientsOf(rows: readonly HeldRow[]): Promise<ReadonlyMap<string, HoldingClient>> {
    const ids = [...new Set(rows.map((row) => row.client_id))];
    if (ids.length === 0) return new Map();
    const { rows: clients } = await database.execute<ClientRow>(
      `SELECT client_id, name, registered_by FROM oauth_clients WHERE client_id IN (${placeholders(ids)})`,
      ids,
    );
    return new Map(
      clients.map(({ client_id: id, name, registered_by: by }) => [
        id,
        { id, name, registeredBy: by ?? 'operator' },
      ]),
    );
  }

  return {
    async findHeld(filter, range, now) {
      const { below, limit, examine } = range;
      const driver = driverOf(filter, below, dialect);
      const bounds = await boundsOf(driver, range);
      if (bounds === null) return { items: [], next: null };
      // Where the comparison of the ids is no end of the part of an index that is read, their number is.
      const isEnded = dialect !== 'postgres';
      const inner = `SELECT f.* FROM oauth_families f WHERE ${driver.sql} ORDER BY ${driver.order} LIMIT ${examine}`;
      const looked = isEnded ? 'oauth_families f' : `(${inner}) f`;
      const where = conjunction([
        isEnded ? driver : { sql: '1 = 1', parameters: driver.parameters },
        { sql: 'f.id >= ?', parameters: [bounds.lowest] },
        ...conditionsOf(filter, dialect),
        livingAt(now, dialect),
      ]);
      const { rows } = await database.execute<HeldRow>(
        `SELECT ${HELD_COLUMNS} FROM ${looked} WHERE ${where.sql} ORDER BY ${driver.order} LIMIT ${limit + 1}`,
        where.parameters,
      );
      const shown = rows.slice(0, limit);
      const clients = await clientsOf(shown);
      const more = rows.length > limit ? (shown.at(-1)?.id ?? null) : bounds.isAll ? null : bounds.lowest;
      return { items: shown.map((row) => toHeld(row, clients)), next: more };
    },

    async countHeld(limit, now) {
      const living = livingAt(now, dialect);
      const { rows } = await database.execute<CountRow>(
        `SELECT COUNT(*) AS seen, SUM(s.lives) AS living, COUNT(DISTINCT CASE WHEN s.lives = 1 THEN s.person END) AS people FROM (
          SELECT CASE WHEN ${living.sql} THEN 1 ELSE 0 END AS lives,
            CONCAT(LENGTH(f.user_provider), ' ', f.user_provider, f.user_id) AS person
          FROM oauth_families f ORDER BY f.id DESC LIMIT ${limit}
        ) s`,
        living.parameters,
      );
      const [{ seen, living: lives, people } = { seen: 0, living: 0, people: 0 }] = rows;
      return { authorizations: Number(lives ?? 0), people: Number(people), isAll: Number(seen) < limit };
    },

    async findHolder(familyId) {
      const { rows } = await database.execute<Pick<HeldRow, 'client_id' | 'user_provider' | 'user_id'>>(
        'SELECT client_id, user_provider, user_id FROM oauth_families WHERE id = ?',
        [familyId],
      );
      const [row] = rows;
      return row === undefined
        ? null
        : { clientId: row.client_id, person: { provider: row.user_provider, id: row.user_id } };
    },

    async revokeOfPerson(person, below, now, limit) {
      const driver = driverOf({ person }, below, dialect);
      const { rows } = await database.execute<{ id: string; revoked_at: number | null }>(
        `SELECT f.id, f.revoked_at FROM oauth_families f
        WHERE ${driver.sql} ORDER BY ${driver.order} LIMIT ${limit}`,
        driver.parameters,
      );
      const living = rows.filter((row) => row.revoked_at === null).map((row) => row.id);
      const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
      if (living.length === 0) return { found: rows.length, revoked: 0, last };
      // As a transaction it is run again when it meets another batch, in another order, and the engine ends it.
      const { affected } = await database.transaction((connection) =>
        connection.execute(
          `UPDATE oauth_families SET revoked_at = ? WHERE id IN (${placeholders(living)}) AND revoked_at IS NULL`,
          [now, ...living],
        ),
      );
      return { found: rows.length, revoked: affected, last };
    },

    confirmRevokedOfPerson({ provider, id }) {
      const newest = `id = (SELECT MAX(f.id) FROM oauth_families f WHERE f.user_provider = ? AND f.user_id = ?)`;
      return confirmRevocation(database, 'oauth_families', newest, [provider, id]);
    },

    async endRequestsOfPerson(person, after, limit, forget) {
      const { rows } = await database.execute<RequestRow>(
        `SELECT id_hash, user_provider, user_id FROM oauth_consent_requests WHERE id_hash > ?
        ORDER BY id_hash LIMIT ${limit}`,
        [after],
      );
      const theirs = rows.filter((row) => isOf(row, person)).map((row) => row.id_hash);
      const last = rows.length < limit ? null : (rows.at(-1)?.id_hash ?? null);
      if (theirs.length === 0) return { ended: 0, last };
      const which = `WHERE id_hash IN (${placeholders(theirs)})`;
      const { affected } = await database.execute(
        forget
          ? `DELETE FROM oauth_consent_requests ${which}`
          : `UPDATE oauth_consent_requests SET outcome = 'void' ${which} AND outcome IS NULL`,
        theirs,
      );
      return { ended: affected, last };
    },

    async hasSubject({ provider, id }) {
      const { rows } = await database.execute(`SELECT 1 FROM oauth_subjects ${OF_PERSON}`, [provider, id]);
      return rows.length > 0;
    },

    async forgetSubject({ provider, id }) {
      const { affected } = await database.execute(`DELETE FROM oauth_subjects ${OF_PERSON}`, [provider, id]);
      return affected > 0;
    },

    removeFamiliesOfPerson(person, limit) {
      return removeFamilies(database, ofPerson(person, dialect), limit);
    },
  } satisfies Partial<Store>;
}

const OF_PERSON = 'WHERE user_provider = ? AND user_id = ?';

/** Above every id: those are hexadecimal. */
const BEHIND_ALL = '~';

const NOTHING = { found: 0, lowest: null };

interface Bounds {
  readonly lowest: string;
  /** Whether there is nothing below. */
  readonly isAll: boolean;
}

interface Where {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

function conjunction(parts: readonly Where[]): Where {
  return {
    sql: parts.map(({ sql }) => `(${sql})`).join(' AND '),
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

/** What an index has, and its order: of the person, of the client, or the key of the table. */
interface Driver extends Where {
  readonly order: string;
}

/**
 * PostgreSQL prepares a statement without its values, takes any client for the usual one, and reads the table by its key until it has met
 * enough rows of it. An order that begins with the client, and is not said to be of one alone, leaves it the index.
 */
function driverOf(
  { person, clientId }: Pick<AuthorizationFilter, 'person' | 'clientId'>,
  below: string | null,
  dialect: SqlDialect,
): Driver {
  const id = below ?? BEHIND_ALL;
  const by =
    person !== undefined
      ? (['f.user_id', person.id] as const)
      : clientId !== undefined
        ? (['f.client_id', clientId] as const)
        : null;
  const provider =
    person === undefined ? [] : [{ sql: 'f.user_provider = ?', parameters: [person.provider] }];
  if (by === null) return { sql: 'f.id < ?', parameters: [id], order: 'f.id DESC' };
  const [column, value] = by;
  if (dialect === 'postgres') {
    const row = { sql: `${column} >= ? AND (${column}, f.id) < (?, ?)`, parameters: [value, value, id] };
    return { ...conjunction([...provider, row]), order: `${column} DESC, f.id DESC` };
  }
  const equal = { sql: `${column} = ? AND f.id < ?`, parameters: [value, id] };
  return { ...conjunction([...provider, equal]), order: 'f.id DESC' };
}

/** For the same reason: PostgreSQL would leave out an order by what is one value, and read the whole table for each batch. */
function ofPerson({ provider, id }: PersonReference, dialect: SqlDialect): Condition {
  return dialect === 'postgres'
    ? ['user_id', '>= ? AND (user_id, id) < (?, ?) AND user_provider = ?', [id, id, BEHIND_ALL, provider]]
    : ['user_id', '= ? AND user_provider = ?', [id, provider]];
}

/** Whether a list of words has this one, which is given with a space on each side. Byte by byte, which LIKE is not on every engine. */
const HAS_WORD: Readonly<Record<SqlDialect, (list: string) => string>> = {
  sqlite: (list) => `INSTR(CONCAT(' ', ${list}, ' '), ?) > 0`,
  postgres: (list) => `STRPOS(CONCAT(' ', ${list}, ' '), ?) > 0`,
  mysql: (list) => `LOCATE(?, CONCAT(' ', ${list}, ' ')) > 0`,
};

/** What no index has. */
function conditionsOf(
  { person, clientId, scope, unusedSince }: AuthorizationFilter,
  dialect: SqlDialect,
): readonly Where[] {
  const parts: Where[] = [];
  if (person !== undefined && clientId !== undefined) {
    parts.push({ sql: 'f.client_id = ?', parameters: [clientId] });
  }
  if (scope !== undefined) {
    parts.push({ sql: HAS_WORD[dialect]('f.scope'), parameters: [` ${scope} `] });
  }
  if (unusedSince !== undefined) {
    parts.push({ sql: 'COALESCE(f.used_at, f.created_at) < ?', parameters: [unusedSince] });
  }
  return parts;
}

/**
 * Of what its client no longer has the grant for nothing is taken, as of what is revoked. The client is looked up for each row: as a join
 * an engine may begin with all clients.
 */
function livingAt(now: number, dialect: SqlDialect): Where {
  const client = `SELECT 1 FROM oauth_clients c WHERE c.client_id = f.client_id AND c.revoked_at IS NULL
    AND ${HAS_WORD[dialect]('c.grants')}`;
  return {
    sql: `f.revoked_at IS NULL AND f.expires_at > ? AND (${client}) = 1`,
    parameters: [now, ' authorization_code '],
  };
}

const HELD_COLUMNS = `f.id, f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience, f.created_at, f.expires_at,
  f.refresh_generation, f.used_at`;

interface HeldRow {
  readonly id: string;
  readonly client_id: string;
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
  readonly scope: string;
  readonly audience: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly refresh_generation: number | null;
  readonly used_at: number | null;
}

interface CountRow {
  readonly seen: number | string;
  /** MySQL tells a sum as text. */
  readonly living: number | string | null;
  readonly people: number | string;
}

interface ClientRow {
  readonly client_id: string;
  readonly name: string;
  readonly registered_by: RegisteredBy | null;
}

interface RequestRow {
  readonly id_hash: string;
  readonly user_provider: string | null;
  readonly user_id: string | null;
}

function isOf({ user_provider: provider, user_id: id }: RequestRow, person: PersonReference): boolean {
  return provider === person.provider && id === person.id;
}

function toHeld(row: HeldRow, clients: ReadonlyMap<string, HoldingClient>): HeldAuthorization {
  const { client_id: clientId } = row;
  return {
    id: row.id,
    // It may have been removed since.
    client: clients.get(clientId) ?? { id: clientId, name: '', registeredBy: 'registration' },
    person: { provider: row.user_provider, id: row.user_id },
    subject: row.subject,
    scopes: words(row.scope),
    audience: row.audience,
    createdAt: row.created_at,
    usedAt: row.used_at ?? (row.refresh_generation === null ? null : 'unknown'),
    expiresAt: row.expires_at,
  };
}
