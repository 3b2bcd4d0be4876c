import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Returns a function that prepares each statement only once. */
export function preparedOnce(database: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}
