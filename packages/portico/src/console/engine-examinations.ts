import { getDialect } from '@portico/sql';
import { skipped, type Finding } from './checks.ts';
import type { ExaminedApplication } from '../examination.ts';
import type { Subject } from './subject.ts';

type EngineExamination = (subject: Subject) => Promise<readonly Finding[]>;

/**
 * Returns the examinations for the type of database in use. If one of them throws, the doctor
 * reports it as skipped, because the store may not be a real database server.
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
