import {
  getDialect,
  insertIfNone,
  type Database,
  type SqlConnection,
  type SqlParameter,
} from '@portico/sql';
import { tokenHash } from '../../crypto.ts';
import type { PersonReference } from '../../person.ts';
import { NewAuthorizations, type NewAuthorization } from '../../store/sql/new-authorizations.ts';
import { removeWhere } from '../../store/sql/statements.ts';
import { SubjectRecords } from '../../store/sql/subjects.ts';

/** An account, and a client to which an organization gave access to it. */
export interface Pair {
  readonly person: PersonReference;
  readonly clientId: string;
}

/**
 * Stores the access that organizations gave (`oauth_given_access`). Also stores the users for whom
 * all clients' access was ended (`oauth_given_access_ended`). For these users, only clients that an
 * operator has allowed since then have access.
 */
export class Pairs {
  readonly #database: Database;
  readonly #subjects: SubjectRecords;
  readonly #beginning: NewAuthorizations;

  constructor(database: Database) {
    this.#database = database;
    this.#subjects = new SubjectRecords(database);
    this.#beginning = new NewAuthorizations(database, USE);
  }

  /**
   * Adds the row that `begin` needs, and then returns the user's subject. If the user has no
   * subject, stores and returns `candidate`. Returns null instead if the access has ended, or if
   * the user was erased in the meantime.
   */
  async prepare(pair: Pair, candidate: string, now: number): Promise<string | null> {
    // An earlier time, so `begin` changes the row. On Galera, a write that changes nothing would
    // not conflict with writes of other nodes.
    await this.#add(pair, { usedAt: now - 1, allowedAt: NEVER, endedAt: null });
    return this.#subjects.assignSubjectWhile(pairHash(pair), pair.person, candidate, PREPARED);
  }

  /** Returns false if the client's access has ended, or if the user was erased after `prepare`. */
  begin(pair: Pair, begun: NewAuthorization, now: number): Promise<boolean> {
    return this.#beginning.begin([now, pairHash(pair), personHash(pair.person)], begun, now);
  }

  /**
   * Returns true if the client has had access since `issuedAt`. An access token from that time is
   * still valid.
   */
  async isValid(pair: Pair, issuedAt: number): Promise<boolean> {
    const values = [pairHash(pair), issuedAt, personHash(pair.person)];
    return (await this.#database.execute(IS_VALID, values)).rows.length > 0;
  }

  /** Returns true if the user or an operator has ended the access. */
  async hasEnded(pair: Pair): Promise<boolean> {
    const hash = pairHash(pair);
    const values = [hash, personHash(pair.person), hash];
    return (await this.#database.execute(HAS_ENDED, values)).rows.length > 0;
  }

  /** Ends one client's access, even if no organization has given it access yet. */
  async end(pair: Pair, now: number): Promise<void> {
    const row = { usedAt: now, allowedAt: NEVER, endedAt: now };
    await this.#write(pair, row, END, [now, pairHash(pair)]);
  }

  /** Ends all clients' access, even of clients that never had access. */
  async endAll({ provider, id }: PersonReference, now: number): Promise<void> {
    const hash = personHash({ provider, id });
    const insert = getDialect(this.#database).insertIfNone(ENDED, '(person_hash)');
    const values = [hash, provider, id, now];
    await this.#database.transaction(async (connection) => {
      // Another process may add or remove the row in between. Repeat until one statement changes a
      // row.
      let isDone = false;
      while (!isDone)
        isDone =
          (await connection.execute(insert, values)).affected === 1 ||
          (await connection.execute(END_AGAIN, [hash])).affected === 1;
      await connection.execute(ALLOWED_AT, [NEVER, id, provider]);
    });
  }

  /**
   * Allows access that has ended. Access tokens from before this call stay invalid. Returns false
   * if the access had not ended.
   */
  async allow(pair: Pair, now: number): Promise<boolean> {
    if (!(await this.hasEnded(pair))) return false;
    const row = { usedAt: now, allowedAt: now, endedAt: null };
    const { provider, id } = pair.person;
    await this.#write(pair, row, ALLOW, [now, provider, id, pairHash(pair)]);
    return true;
  }

  /**
   * Undoes `endAll`. Access tokens from before this call stay invalid. Access that was ended for a
   * single client stays ended. Returns false if there is nothing to undo.
   */
  allowAll({ provider, id }: PersonReference, now: number): Promise<boolean> {
    return this.#database.transaction(async (connection) => {
      const { affected } = await connection.execute(UNDO, [personHash({ provider, id })]);
      if (affected !== 1) return false;
      await connection.execute(ALLOWED_AT, [now, id, provider]);
      return true;
    });
  }

  /**
   * Removes the user's stored data. Rows with ended access stay, but identify the user only by a
   * hash. Returns false if nothing was stored.
   */
  async removeOfPerson(
    { provider, id }: PersonReference,
    connection: SqlConnection,
  ): Promise<boolean> {
    // First, because `endAll` and `allowAll` lock this row first, too.
    const ended = [id, provider, personHash({ provider, id })];
    let changed = (await connection.execute(FORGET_ENDED, ended)).affected;
    for (const sql of FORGET) changed += (await connection.execute(sql, [id, provider])).affected;
    return changed > 0;
  }

  /**
   * Removes at most `limit` rows that no client has used since `since`. Keeps rows in which access
   * was ended or allowed.
   */
  removeUnused(since: number, limit: number): Promise<number> {
    const from = ['oauth_given_access', 'pair_hash'] as const;
    const test = '< ? AND ended_at IS NULL AND allowed_at = 0';
    return removeWhere(this.#database, from, ['used_at', test, [since]], limit);
  }

  /** Adds or updates the row. Repeats this if another process adds or removes it in between. */
  async #write(
    pair: Pair,
    row: Row,
    update: string,
    values: readonly SqlParameter[],
  ): Promise<void> {
    let isDone = false;
    while (!isDone)
      isDone =
        (await this.#add(pair, row)) ||
        (await this.#database.execute(update, values)).affected === 1;
  }

  #add(pair: Pair, { usedAt, allowedAt, endedAt }: Row): Promise<boolean> {
    const { person, clientId } = pair;
    const values = [pairHash(pair), person.provider, person.id, clientId];
    const times = [usedAt, allowedAt, endedAt];
    return insertIfNone(this.#database, PAIR, '(pair_hash)', [...values, ...times]);
  }
}

/** The times in one row of `oauth_given_access`. */
interface Row {
  readonly usedAt: number;
  /** When an operator allowed the access again, or NEVER. */
  readonly allowedAt: number;
  readonly endedAt: number | null;
}

const NEVER = 0;

const PAIR = `oauth_given_access
  (pair_hash, user_provider, user_id, client_id, used_at, allowed_at, ended_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

const ENDED = `oauth_given_access_ended (person_hash, user_provider, user_id, ended_at)
  VALUES (?, ?, ?, ?)`;

/** The condition that access has not ended. Its parameter is the hash of the user. */
const NOT_ENDED = `ended_at IS NULL AND (allowed_at > 0 OR NOT EXISTS
  (SELECT 1 FROM oauth_given_access_ended p WHERE p.person_hash = ?))`;

/** An erasure deletes this row. Its parameter is the hash of the pair. */
const PREPARED = 'oauth_given_access WHERE ended_at IS NULL AND pair_hash = ?';

const USE = `UPDATE oauth_given_access SET used_at = ? WHERE pair_hash = ? AND ${NOT_ENDED}`;

const IS_VALID = `SELECT 1 FROM oauth_given_access
  WHERE pair_hash = ? AND allowed_at <= ? AND ${NOT_ENDED}`;

const HAS_ENDED = `SELECT 1 FROM oauth_given_access WHERE pair_hash = ? AND ended_at IS NOT NULL
  UNION ALL SELECT 1 FROM oauth_given_access_ended WHERE person_hash = ? AND NOT EXISTS
    (SELECT 1 FROM oauth_given_access g WHERE g.pair_hash = ? AND g.allowed_at > 0)`;

const END = 'UPDATE oauth_given_access SET ended_at = COALESCE(ended_at, ?) WHERE pair_hash = ?';

const END_AGAIN = 'UPDATE oauth_given_access_ended SET ended_at = ended_at WHERE person_hash = ?';

const UNDO = 'DELETE FROM oauth_given_access_ended WHERE person_hash = ?';

/** The erasure of a user removes the reference from rows with ended access, so write it too. */
const ALLOW = `UPDATE oauth_given_access
  SET ended_at = NULL, allowed_at = ?, user_provider = ?, user_id = ? WHERE pair_hash = ?`;

const ALLOWED_AT = `UPDATE oauth_given_access SET allowed_at = ?
  WHERE user_id = ? AND user_provider = ?`;

/**
 * Removes the user's reference from rows with ended access. Deletes rows with active access,
 * because `endAll` finds those rows by the reference.
 */
const FORGET = [
  'DELETE FROM oauth_given_access WHERE user_id = ? AND user_provider = ? AND ended_at IS NULL',
  `UPDATE oauth_given_access SET user_provider = '', user_id = ''
    WHERE user_id = ? AND user_provider = ? AND ended_at IS NOT NULL`,
];

const FORGET_ENDED = `UPDATE oauth_given_access_ended SET user_provider = '', user_id = ''
  WHERE user_id = ? AND user_provider = ? AND person_hash = ?`;

function pairHash({ person, clientId }: Pair): string {
  return tokenHash(JSON.stringify([person.provider, person.id, clientId]));
}

function personHash({ provider, id }: PersonReference): string {
  return tokenHash(JSON.stringify([provider, id]));
}
