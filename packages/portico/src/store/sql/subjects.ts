import { type Database, getDialect, insertIfNone } from '@portico/sql';
import type { PersonReference } from '../../person.ts';

export class SubjectRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns the person's subject. If the person has no subject, stores and returns `candidate`, but
   * only while `row` with this `key` exists. An erasure removes this row. So it returns null if the
   * person has no subject and was just erased, and leaves nothing of that person.
   */
  async assignSubjectWhile(
    key: string,
    person: PersonReference,
    candidate: string,
    row = CONSENT_REQUEST,
  ): Promise<string | null> {
    const assigned = await this.findSubject(person);
    if (assigned !== null) return assigned;
    const { provider, id } = person;
    // An erasure waits for this lock. It removes the row first, and then the subject.
    const { locking } = getDialect(this.#database);
    const insert = `${COLUMNS} SELECT ?, ?, ? FROM ${row}${locking}`;
    const values = [provider, id, candidate, key];
    const isNew = await insertIfNone(this.#database, insert, KEY, values);
    return isNew ? candidate : this.findSubject(person);
  }

  /** Returns the person's subject, or null if the person has none. */
  async findSubject({ provider, id }: PersonReference): Promise<string | null> {
    const { rows } = await this.#database.execute<SubjectRow>(
      'SELECT user_provider, user_id, subject FROM oauth_subjects WHERE user_provider = ? ' +
        'AND user_id = ?',
      [provider, id],
    );
    const exact = rows.find((row) => row.user_provider === provider && row.user_id === id);
    return exact?.subject ?? null;
  }

  async findPersonOfSubject(subject: string): Promise<PersonReference | null> {
    const { rows } = await this.#database.execute<SubjectRow>(
      'SELECT user_provider, user_id, subject FROM oauth_subjects WHERE subject = ?',
      [subject],
    );
    const exact = rows.find((row) => row.subject === subject);
    return exact === undefined ? null : { provider: exact.user_provider, id: exact.user_id };
  }

  /** Returns false if the person already has a subject, or if this one is taken. */
  insertSubject({ provider, id }: PersonReference, subject: string): Promise<boolean> {
    const insert = `${COLUMNS} VALUES (?, ?, ?)`;
    // With `''`, the statement compares all keys of the table.
    return insertIfNone(this.#database, insert, '', [provider, id, subject]);
  }

  async hasSubject({ provider, id }: PersonReference): Promise<boolean> {
    const { rows } = await this.#database.execute(`SELECT 1 FROM oauth_subjects ${OF_PERSON}`, [
      provider,
      id,
    ]);
    return rows.length > 0;
  }

  /**
   * The server assigns a new subject when the person next needs one. Returns false if there was
   * none.
   */
  async forgetSubject({ provider, id }: PersonReference): Promise<boolean> {
    const { affected } = await this.#database.execute(`DELETE FROM oauth_subjects ${OF_PERSON}`, [
      provider,
      id,
    ]);
    return affected > 0;
  }
}

const COLUMNS = 'oauth_subjects (user_provider, user_id, subject)';
const KEY = '(user_provider, user_id)';
const CONSENT_REQUEST = 'oauth_consent_requests WHERE id_hash = ?';
const OF_PERSON = 'WHERE user_provider = ? AND user_id = ?';

interface SubjectRow {
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
}
