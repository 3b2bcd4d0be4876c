import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrationsOf, type Application, type ApplicationDefinition } from '@portico/kit';
import type { Database } from 'portico';

/** Files with empty SQLite databases that are migrated, by the names of their migrations. */
const templates = new Map<string, string>();

const keyOf = (definition: ApplicationDefinition) =>
  migrationsOf(definition)
    .map(({ name }) => name)
    .join();

/**
 * Copies a migrated database to this URL, if this worker has migrated one before. A copy takes a
 * millisecond, and the migrations take forty. Call this before you open the database.
 */
export async function copyTemplate(url: string, definition: ApplicationDefinition): Promise<void> {
  const template = templates.get(keyOf(definition));
  if (url.startsWith('sqlite:') && template !== undefined) {
    await copyFile(template, url.slice('sqlite:'.length));
  }
}

/**
 * Keeps a copy of this newly migrated database without rows. Does nothing if its settings need
 * tables that other databases do not have.
 */
export async function keepTemplate(
  database: Database,
  definition: ApplicationDefinition,
  config: Application['config'],
): Promise<void> {
  if (migrationsOf(definition, config).length !== migrationsOf(definition).length) return;
  const key = keyOf(definition);
  if (database.dialect !== 'sqlite' || templates.has(key)) return;
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'template-')), 'migrated.sqlite');
  await database.execute(`VACUUM INTO '${file}'`);
  templates.set(key, file);
}
