import { insertIfNone, type Database, type SqlConnection } from '@portico/sql';
import { tokenHash } from '../../crypto.ts';
import type { AssertedAccount } from '../../host/host.ts';
import type { PersonReference } from '../../person.ts';

/** A link between a subject of an issuer and an account of this server. */
export interface Link extends AssertedAccount {
  readonly person: PersonReference;
  /** When the link was created, in milliseconds since 1970. */
  readonly createdAt: number;
}

/** A page of links. Their order never changes. */
export interface LinkPage {
  readonly items: readonly Link[];
  /** Pass it as `after` for the next page. Null on the last page. */
  readonly next: string | null;
}

/** Reads and writes `oauth_linked_subjects`. */
export class Links {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(account: AssertedAccount): Promise<Link | null> {
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS} FROM oauth_linked_subjects WHERE link_hash = ?`,
      [linkHash(account)],
    );
    return rows[0] === undefined ? null : toLink(rows[0]);
  }

  /** Returns false if the subject is already linked. */
  add({ person, createdAt, ...account }: Link): Promise<boolean> {
    const { issuer, tenant, subject } = account;
    const named = [linkHash(account), issuer, tenant, subject];
    const values = [...named, person.provider, person.id, createdAt];
    const row = `oauth_linked_subjects (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
    return insertIfNone(this.#database, row, '(link_hash)', values);
  }

  /** Returns the subject's links in all tenants, including earlier tenants of the issuer. */
  async findInTenants(issuer: string, subject: string): Promise<readonly Link[]> {
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS} FROM oauth_linked_subjects WHERE issuer = ? AND subject = ?`,
      [issuer, subject],
    );
    return rows.map(toLink);
  }

  /** Returns false if the link does not exist. */
  async remove(account: AssertedAccount): Promise<boolean> {
    const { affected } = await this.#database.execute(
      'DELETE FROM oauth_linked_subjects WHERE link_hash = ?',
      [linkHash(account)],
    );
    return affected === 1;
  }

  async hasPerson({ provider, id }: PersonReference): Promise<boolean> {
    const { rows } = await this.#database.execute(
      `SELECT 1 FROM oauth_linked_subjects WHERE ${OF_PERSON} LIMIT 1`,
      [id, provider],
    );
    return rows.length > 0;
  }

  /** Removes all links to the user's account. Returns false if there are no links. */
  async removeOfPerson(
    { provider, id }: PersonReference,
    connection: SqlConnection,
  ): Promise<boolean> {
    const sql = `DELETE FROM oauth_linked_subjects WHERE ${OF_PERSON}`;
    return (await connection.execute(sql, [id, provider])).affected > 0;
  }

  async list(limit: number, after = ''): Promise<LinkPage> {
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS} FROM oauth_linked_subjects WHERE link_hash > ?
        ORDER BY link_hash LIMIT ${limit + 1}`,
      [after],
    );
    const shown = rows.slice(0, limit);
    const next = rows.length > limit ? (shown.at(-1)?.link_hash ?? null) : null;
    return { items: shown.map(toLink), next };
  }
}

const OF_PERSON = 'user_id = ? AND user_provider = ?';

const COLUMNS = 'link_hash, issuer, tenant, subject, user_provider, user_id, created_at';

interface Row {
  readonly link_hash: string;
  readonly issuer: string;
  readonly tenant: string | null;
  readonly subject: string;
  readonly user_provider: string;
  readonly user_id: string;
  readonly created_at: number;
}

function toLink(row: Row): Link {
  const { issuer, tenant, subject } = row;
  const person = { provider: row.user_provider, id: row.user_id };
  return { issuer, tenant, subject, person, createdAt: row.created_at };
}

function linkHash({ issuer, tenant, subject }: AssertedAccount): string {
  return tokenHash(JSON.stringify([issuer, tenant, subject]));
}
