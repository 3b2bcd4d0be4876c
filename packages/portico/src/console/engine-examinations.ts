import { dialectOf } from '@portico/sql';
import { skipped, type Finding } from './checks.ts';
import type { ExaminedApplication, Subject } from './subject.ts';

type EngineExamination = (subject: Subject) => Promise<readonly Finding[]>;

/** What is examined of an engine. A store that does not answer such questions is skipped: it need not be a database server. */
export async function engineExaminations(
  database: ExaminedApplication['database'],
): Promise<readonly (readonly [part: string, EngineExamination])[]> {
  const { parts } = await dialectOf(database).examinations();
  return parts.map(([part, examine]) => [
    part,
    ({ application }) =>
      examine(application).catch((error: unknown) => [
        skipped(`the store does not say: ${error instanceof Error ? error.message : String(error)}`),
      ]),
  ]);
}
