// Why the short tests on SQLite take fewer than 95 % of the branches of a file.
import path from 'node:path';

/** The reasons, by the pattern of the files' paths. The first pattern that matches counts. */
export const REASONS: Readonly<Record<string, string>> = {
  'packages/sql/src/postgres/**':
    'The tests that need PostgreSQL take them: `npx vitest run --project postgres`.',
  'packages/sql/src/mysql/**':
    'The tests that need MariaDB or MySQL take them: `npx vitest run --project mariadb`.',
  'packages/create-portico/src/**':
    'Its tests run the packed program in folders of their own, which a run does not count.',
};

/** Returns the reason for a file, or null if it has none. */
export function reasonFor(file: string): string | null {
  const found = Object.entries(REASONS).find(([pattern]) => path.matchesGlob(file, pattern));
  return found?.[1] ?? null;
}
