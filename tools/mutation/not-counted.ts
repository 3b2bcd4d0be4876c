// The source files that no area of scope.ts contains, and why. The tests of an area run the server
// in their own process, on SQLite, because the mutants are switched on there.
import { globSync } from 'node:fs';
import path from 'node:path';
import { AREAS, filesOf } from './scope.ts';

const root = path.join(import.meta.dirname, '..', '..');

/** Why files are in no area, by the pattern of their paths from the root. */
export const NOT_COUNTED: Readonly<Record<string, string>> = {
  'packages/create-portico/src/**': 'its tests start a process for each project that they create',
  'packages/kit/src/commands/{serve,workers}.ts': 'its tests start other processes',
  'packages/portico/src/console/program/**': 'its tests start other processes',
  'packages/sql/src/{mysql,postgres}/**': 'it needs a database server, and a run uses SQLite',
  'packages/portico/src/features/languages/**': 'words for people',
  'packages/portico/src/pages/english{.ts,/**}': 'words for people',
  'packages/portico/src/features/telemetry/**': 'it measures, and decides nothing',
  'packages/portico/src/store/migrations/**': 'it runs before the first test of a process',
  'packages/portico/src/store/sql/outbox-*.ts':
    'its tests start processes that compete for messages',
  'packages/*/src/**/{index,config,configuration,features,views,embedded-views,contracts,contract,migrations,operations}.ts':
    'lists, names and types: it runs before the first test of a process',
  '**/*.fixture.ts': 'data of tests',
  'packages/portico/src/**': 'types, lists and names: it runs before the first test of a process',
  'packages/{import,admin,mcp,kit,resource-server}/src/**':
    'types, lists and names: it runs before the first test of a process',
};

/** Returns every source file of the packages, without tests. */
export function sources(): readonly string[] {
  const exclude = ['**/*.test.ts', '**/node_modules/**'];
  return globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root, exclude }).toSorted();
}

/** Returns the source files that no area contains. */
export function outside(): readonly string[] {
  const inside = new Set(Object.keys(AREAS).flatMap(filesOf));
  return sources().filter((file) => !inside.has(file));
}

/** Returns why a file is in no area, or null if the list does not say it. */
export function reasonOf(file: string): string | null {
  const found = Object.entries(NOT_COUNTED).find(([pattern]) => path.matchesGlob(file, pattern));
  return found?.[1] ?? null;
}
