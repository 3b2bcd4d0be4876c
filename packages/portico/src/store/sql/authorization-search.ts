import { type Database, type Dialect, getDialect } from '@portico/sql';
import type {
  AuthorizationFilter,
  CountedHeld,
  FoundHeld,
  HeldAuthorization,
  HeldRange,
  HoldingClient,
} from '../authorization-search.ts';
import type { RegisteredBy } from '../client.ts';
import type { FurtherGrants } from '../grant.ts';
import { givenBy } from '../given-access.ts';
import { conjunction, familyIndex, type FamilyIndex, type Where } from './family-index.ts';
import { readDetails, type FamilyRow } from './family-rows.ts';
import { placeholders, words } from './statements.ts';

export class AuthorizationSearch {
  readonly #database: Database;
  readonly #further: FurtherGrants;

  constructor(database: Database, further: FurtherGrants) {
    this.#database = database;
    this.#further = further;
  }

  /**
   * Returns the matching active authorizations, newest first. Reads at most `range.examine` rows.
   */
  async findHeld(filter: AuthorizationFilter, range: HeldRange, now: number): Promise<FoundHeld> {
    const dialect = getDialect(this.#database);
    const { below, limit } = range;
    const index = familyIndex(filter, below, dialect);
    const bounds = await this.#boundsOf(index, range);
    if (bounds === null) return { items: [], next: null };
    // Select by id: rows may have been added since. With a number of rows, the page would end above
    // `bounds.lowest`, and the next page would skip the rows between.
    const where = conjunction([
      index,
      index.endsAt(bounds.lowest),
      ...buildConditions(filter, dialect),
      livingAt(now, dialect, this.#further),
    ]);
    const { rows } = await this.#database.execute<HeldRow>(
      `SELECT ${HELD_COLUMNS} FROM oauth_families f WHERE ${where.sql} ` +
        `ORDER BY ${index.order} LIMIT ${limit + 1}`,
      where.parameters,
    );
    const shown = rows.slice(0, limit);
    const clients = await this.#clientsOf(shown);
    const more =
      rows.length > limit ? (shown.at(-1)?.id ?? null) : bounds.isAll ? null : bounds.lowest;
    return { items: shown.map((row) => toHeld(row, clients)), next: more };
  }

  /** Counts the active authorizations among the newest `limit` rows, and their people. */
  async countHeld(limit: number, now: number): Promise<CountedHeld> {
    const living = livingAt(now, getDialect(this.#database), this.#further);
    const { rows } = await this.#database.execute<CountRow>(
      `SELECT COUNT(*) AS seen, SUM(s.lives) AS living, COUNT(DISTINCT CASE WHEN s.lives = 1 THEN s.person END) AS people FROM (
          SELECT CASE WHEN ${living.sql} THEN 1 ELSE 0 END AS lives,
            CONCAT(LENGTH(f.user_provider), ' ', f.user_provider, f.user_id) AS person
          FROM oauth_families f ORDER BY f.id DESC LIMIT ${limit}
        ) s`,
      living.parameters,
    );
    const [{ seen, living: lives, people } = { seen: 0, living: 0, people: 0 }] = rows;
    return {
      authorizations: Number(lives ?? 0),
      people: Number(people),
      isAll: Number(seen) < limit,
    };
  }

  /** Returns the lowest id of the rows to read, or null without rows. */
  async #boundsOf(index: FamilyIndex, { above, examine }: HeldRange): Promise<Bounds | null> {
    const { rows } = await this.#database.execute<{ found: number; lowest: string | null }>(
      `SELECT COUNT(*) AS found, MIN(s.id) AS lowest FROM (
        SELECT f.id FROM oauth_families f WHERE ${index.sql} ORDER BY ${index.order} LIMIT ${examine}
      ) s`,
      index.parameters,
    );
    const [{ found, lowest } = NOTHING] = rows;
    if (lowest === null) return null;
    return above !== null && lowest <= above
      ? { lowest: above, isAll: true }
      : { lowest, isAll: found < examine };
  }

  async #clientsOf(rows: readonly HeldRow[]): Promise<ReadonlyMap<string, HoldingClient>> {
    const ids = [...new Set(rows.map((row) => row.client_id))];
    if (ids.length === 0) return new Map();
    const { rows: clients } = await this.#database.execute<ClientRow>(
      'SELECT client_id, name, registered_by FROM oauth_clients WHERE client_id IN ' +
        `(${placeholders(ids)})`,
      ids,
    );
    return new Map(
      clients.map(({ client_id: id, name, registered_by: by }) => [
        id,
        { id, name, registeredBy: by ?? 'operator' },
      ]),
    );
  }
}

const NOTHING = { found: 0, lowest: null };

interface Bounds {
  readonly lowest: string;
  /** True if no rows of the range are below the lowest id. */
  readonly isAll: boolean;
}

/** Returns the conditions that the index does not check. */
function buildConditions(
  { person, clientId, scope, unusedSince }: AuthorizationFilter,
  dialect: Dialect,
): readonly Where[] {
  const parts: Where[] = [];
  if (person !== undefined && clientId !== undefined) {
    parts.push({ sql: 'f.client_id = ?', parameters: [clientId] });
  }
  if (scope !== undefined) {
    parts.push({ sql: dialect.hasWord('f.scope'), parameters: [` ${scope} `] });
  }
  if (unusedSince !== undefined) {
    parts.push({ sql: 'COALESCE(f.used_at, f.created_at) < ?', parameters: [unusedSince] });
  }
  return parts;
}

/**
 * Returns the condition for active authorizations. The client must not be revoked, and must still
 * have a grant that starts this kind of access. Do not use a join for the client: an engine might
 * start with all clients.
 */
function livingAt(now: number, dialect: Dialect, further: FurtherGrants): Where {
  const given = further('organization');
  const allowed = ['authorization_code', ...further('person')];
  const hasOne = (grants: readonly string[]) =>
    grants.map(() => dialect.hasWord('c.grants')).join(' OR ') || '1 = 0';
  const client = `SELECT 1 FROM oauth_clients c WHERE c.client_id = f.client_id AND c.revoked_at IS NULL
    AND CASE WHEN ${IS_GIVEN} THEN (${hasOne(given)}) ELSE (${hasOne(allowed)}) END`;
  return {
    sql: `f.revoked_at IS NULL AND f.expires_at > ? AND (${client}) = 1`,
    parameters: [now, ...[...given, ...allowed].map((grant) => ` ${grant} `)],
  };
}

/**
 * True if an organization granted the authorization. JSON escapes quotation marks inside values, so
 * the pattern matches only the name of a property.
 */
const IS_GIVEN = `f.details LIKE '%"given_by":%'`;

const HELD_COLUMNS = `f.id, f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience, f.created_at, f.expires_at,
  f.refresh_generation, f.used_at, f.details`;

interface HeldRow extends Omit<FamilyRow, 'thumbprint'> {
  readonly created_at: number;
  readonly expires_at: number;
  readonly refresh_generation: number | null;
  readonly used_at: number | null;
}

interface CountRow {
  readonly seen: number | string;
  /** MySQL returns sums as strings. */
  readonly living: number | string | null;
  readonly people: number | string;
}

interface ClientRow {
  readonly client_id: string;
  readonly name: string;
  readonly registered_by: RegisteredBy | null;
}

function toHeld(row: HeldRow, clients: ReadonlyMap<string, HoldingClient>): HeldAuthorization {
  const { client_id: clientId } = row;
  return {
    id: row.id,
    // The client may have been removed between the two queries.
    client: clients.get(clientId) ?? { id: clientId, name: '', registeredBy: 'registration' },
    person: { provider: row.user_provider, id: row.user_id },
    subject: row.subject,
    scopes: words(row.scope),
    audience: row.audience,
    givenBy: givenBy(readDetails(row.details).details),
    createdAt: row.created_at,
    usedAt: row.used_at ?? (row.refresh_generation === null ? null : 'unknown'),
    expiresAt: row.expires_at,
  };
}
