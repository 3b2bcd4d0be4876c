import { type Database, getDialect, insertIfNone } from '@portico/sql';
import type { PersonReference } from '../../person.ts';

export class SubjectRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores and returns `candidate` if the person has no subject. */
  async assignSubject(person: PersonReference, candidate: string): Promise<string> {
    const assigned = await this.findSubject(person);
    if (assigned !== null) return assigned;
    // Return the candidate without reading it again. If the person is erased at the same time, the
    // subject and the consent that needs it are removed together.
    if (await this.#insert(person, candidate, KEY)) return candidate;
    const subject = await this.findSubject(person);
    if (subject === null)
      throw new Error('The subject identifier (sub) of a person could not be stored');
    return subject;
  }

  /**
   * Returns the person's subject. If the person has no subject, stores and returns `candidate`, but
   * only while the consent request `asked` exists. Returns null if the person has no subject and
   * the consent request was removed, so that nothing remains of a person who was just erased.
   */
  async assignSubjectWhile(
    asked: string,
    person: PersonReference,
    candidate: string,
  ): Promise<string | null> {
    const assigned = await this.findSubject(person);
    if (assigned !== null) return assigned;
    const { provider, id } = person;
    // An erasure waits for this lock. It removes the request first, and then the subject.
    const row = `${WHILE_ASKED}${getDialect(this.#database).locking}`;
    const values = [provider, id, candidate, asked];
    const isNew = await insertIfNone(this.#database, row, KEY, values);
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
  insertSubject(person: PersonReference, subject: string): Promise<boolean> {
    return this.#insert(person, subject, '');
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

  /** `key` names the columns to compare. With `''`, all keys of the table are compared. */
  #insert({ provider, id }: PersonReference, subject: string, key: string): Promise<boolean> {
    return insertIfNone(this.#database, `${COLUMNS} VALUES (?, ?, ?)`, key, [
      provider,
      id,
      subject,
    ]);
  }
}

const COLUMNS = 'oauth_subjects (user_provider, user_id, subject)';
const KEY = '(user_provider, user_id)';
const WHILE_ASKED = `${COLUMNS} SELECT ?, ?, ? FROM oauth_consent_requests WHERE id_hash = ?`;
const OF_PERSON = 'WHERE user_provider = ? AND user_id = ?';

interface SubjectRow {
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
}
