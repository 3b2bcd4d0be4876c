import { type Database, insertIfNone } from '@portico/sql';
import type { PersonReference } from '../../person.ts';

/** Reads and writes each person's `sub` (`oauth_subjects`). */
export class SubjectRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the person's subject. If the person has no subject, stores and returns `candidate`. */
  async assignSubject(person: PersonReference, candidate: string): Promise<string> {
    const assigned = await this.findSubject(person);
    if (assigned !== null) return assigned;
    // Return the candidate without reading it again. If the person is erased at the same time, the
    // subject and the consent that needs it are removed together.
    if (await this.#insert(person, candidate, '(user_provider, user_id)')) return candidate;
    const subject = await this.findSubject(person);
    if (subject === null)
      throw new Error('The subject identifier (sub) of a person could not be stored');
    return subject;
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

  /** Returns the person with this subject, or null if no person has it. */
  async findPersonOfSubject(subject: string): Promise<PersonReference | null> {
    const { rows } = await this.#database.execute<SubjectRow>(
      'SELECT user_provider, user_id, subject FROM oauth_subjects WHERE subject = ?',
      [subject],
    );
    const exact = rows.find((row) => row.subject === subject);
    return exact === undefined ? null : { provider: exact.user_provider, id: exact.user_id };
  }

  /**
   * Assigns this subject to the person, unless the person already has one or the subject is taken.
   * Returns whether it was assigned.
   */
  insertSubject(person: PersonReference, subject: string): Promise<boolean> {
    return this.#insert(person, subject, '');
  }

  /** Returns whether this person has a subject. */
  async hasSubject({ provider, id }: PersonReference): Promise<boolean> {
    const { rows } = await this.#database.execute(`SELECT 1 FROM oauth_subjects ${OF_PERSON}`, [
      provider,
      id,
    ]);
    return rows.length > 0;
  }

  /**
   * Removes the person's subject. When the person next needs a subject, the server assigns a new
   * one. Returns false if the person had none.
   */
  async forgetSubject({ provider, id }: PersonReference): Promise<boolean> {
    const { affected } = await this.#database.execute(`DELETE FROM oauth_subjects ${OF_PERSON}`, [
      provider,
      id,
    ]);
    return affected > 0;
  }

  /**
   * Inserts the row unless a row with the same key exists. `key` names the columns to compare. With
   * `''`, all keys of the table are compared.
   */
  #insert({ provider, id }: PersonReference, subject: string, key: string): Promise<boolean> {
    const row = 'oauth_subjects (user_provider, user_id, subject) VALUES (?, ?, ?)';
    return insertIfNone(this.#database, row, key, [provider, id, subject]);
  }
}

const OF_PERSON = 'WHERE user_provider = ? AND user_id = ?';

interface SubjectRow {
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
}
