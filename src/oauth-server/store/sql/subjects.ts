import type { PersonReference } from '../../../contracts/person.ts';
import type { Database, SqlConnection } from '../../../sql/contract.ts';
import { insertIfNone } from '../../../sql/insert-if-none.ts';
import type { Store } from '../store.ts';

/** People as the outside world knows them: `oauth_subjects`. */
export function subjectsTable(database: Database) {
  return {
    async assignSubject(person, candidate) {
      const find = () => findSubject(database, person);
      const assigned = await find();
      if (assigned !== null) return assigned;
      const isAssigned = await insertIfNone(
        database,
        'oauth_subjects (user_provider, user_id, subject) VALUES (?, ?, ?)',
        '(user_provider, user_id)',
        [person.provider, person.id, candidate],
      );
      // Not read again: whoever erases the person at this moment may have removed it, and the consent that it is for.
      if (isAssigned) return candidate;
      const subject = await find();
      if (subject === null) throw new Error('The subject of a person could not be assigned');
      return subject;
    },

    findSubject: (person) => findSubject(database, person),

    async findPersonOfSubject(subject) {
      const { rows } = await database.execute<SubjectRow>(
        'SELECT user_provider, user_id, subject FROM oauth_subjects WHERE subject = ?',
        [subject],
      );
      const exact = rows.find((row) => row.subject === subject);
      return exact === undefined ? null : { provider: exact.user_provider, id: exact.user_id };
    },

    insertSubject: (person, subject) =>
      insertIfNone(
        database,
        'oauth_subjects (user_provider, user_id, subject) VALUES (?, ?, ?)',
        // Neither of both may be there.
        '',
        [person.provider, person.id, subject],
      ),
  } satisfies Partial<Store>;
}

interface SubjectRow {
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
}

async function findSubject(connection: SqlConnection, person: PersonReference): Promise<string | null> {
  const { rows } = await connection.execute<SubjectRow>(
    'SELECT user_provider, user_id, subject FROM oauth_subjects WHERE user_provider = ? AND user_id = ?',
    [person.provider, person.id],
  );
  const exact = rows.find((row) => row.user_provider === person.provider && row.user_id === person.id);
  return exact?.subject ?? null;
}
