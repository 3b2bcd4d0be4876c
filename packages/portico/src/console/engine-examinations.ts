import { getDialect } from '@portico/sql';
import { skipped, type Finding } from './checks.ts';
import type { ExaminedApplication } from '../examination.ts';
import type { Subject } from './subject.ts';

type EngineExamination = (subject: Subject) => Promise<readonly Finding[]>;

/**
 * The examinations for this type of database. The store may not be a real database server, so an
 * error counts as skipped.
 */
export async function engineExaminations(
  database: ExaminedApplication['database'],
): Promise<readonly (readonly [part: string, EngineExamination])[]> {
  const { parts } = await getDialect(database).examinations();
  return parts.map(([part, examine]) => [
    part,
    ({ application }) =>
      examine(application).catch((error: unknown) => [
        skipped(
          'the database settings cannot be ' +
            `read: ${error instanceof Error ? error.message : String(error)}`,
        ),
      ]),
  ]);
}
