import type { SqlDialect } from '../../sql/contract.ts';
import { skipped, type Finding } from './checks.ts';
import * as mysql from './mysql-checks.ts';
import * as postgres from './postgres-checks.ts';
import * as sqlite from './sqlite-checks.ts';
import type { Subject } from './subject.ts';

export type EngineExamination = (subject: Subject) => Promise<readonly Finding[]>;

/** What a reader of the findings needs to know is in docs/running-on-several-machines.md. */
const EXAMINATIONS: Readonly<Record<SqlDialect, readonly (readonly [part: string, EngineExamination])[]>> = {
  sqlite: [
    ['durability', sqlite.examineDurability],
    ['database file', sqlite.examineFile],
  ],
  postgres: [
    ['durability', postgres.examineDurability],
    ['replication', postgres.examineReplication],
    ['connections', postgres.examineConnections],
  ],
  mysql: [
    ['durability', mysql.examineDurability],
    ['replication', mysql.examineReplication],
    ['connections', mysql.examineConnections],
    ['tables', mysql.examineTables],
  ],
};

/** What is examined of an engine. A store that does not answer such questions is skipped: it need not be a database server. */
export function engineExaminations(
  dialect: SqlDialect,
): readonly (readonly [part: string, EngineExamination])[] {
  return EXAMINATIONS[dialect].map(([part, examine]) => [
    part,
    (subject) =>
      examine(subject).catch((error: unknown) => [
        skipped(`the store does not say: ${error instanceof Error ? error.message : String(error)}`),
      ]),
  ]);
}
