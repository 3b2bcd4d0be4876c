import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { getDialect } from '@portico/sql';
import type { AddCommands, ConsoleContext } from '../../../application/console-context.ts';
import { toDisk } from '../../../to-disk.ts';

/**
 * `db:backup <file>` makes a consistent copy of a SQLite database, even while other processes write
 * to it.
 */
export const addDbBackup: AddCommands = (program, context) => {
  program
    .command('db:backup')
    .description(
      'copy the SQLite database to a new file. The server can keep running. For PostgreSQL, ' +
        'MySQL and MariaDB, use their own backup tools',
    )
    .argument('<file>', 'the new file, which must not exist yet')
    .action(async (file: string) => {
      const application = await context.application();
      const { database } = application;
      const { copying } = getDialect(database);
      const statement =
        'advice' in copying
          ? context.fail(
              `This command copies only SQLite databases. For this database: ${copying.advice}`,
            )
          : copying.statement;
      const target = path.resolve(file);
      if (existsSync(target))
        context.fail(`${file} already exists; choose another name. Nothing was written`);
      // With a wrong path, opening the database created an empty file. A copy of it would look like
      // a backup.
      if ((await application.migrations()).every(({ appliedAt }) => appliedAt === null))
        context.fail(
          'The database contains no data of Portico, so nothing was copied. Check database_url ' +
            '(DATABASE_URL) and STORAGE_DIR',
        );
      const part = `${target}.part`;
      await makeOwn(context, part, `${file}.part`);
      try {
        await copy(context, () => database.execute(statement, [part]), part);
        await rename(part, target);
      } catch (error) {
        // The database was just read, so the problem is the copy.
        if (getDialect(database).isAboutFile(error)) failToWrite(context, `${file}.part`, error);
        throw error;
      } finally {
        await rm(part, { force: true });
      }
      await toDisk(path.dirname(target));
      context.print(`Copied the database to ${file}. The signing keys are not in it.`);
    });
};

/**
 * Creates an empty file for SQLite that only its owner can read. If the file exists, another backup
 * may be writing to it, so this fails.
 */
async function makeOwn(context: ConsoleContext, target: string, named: string): Promise<void> {
  const folder = path.dirname(target);
  if (!existsSync(folder)) context.fail(`The folder ${folder} does not exist; create it first`);
  if (existsSync(target)) {
    context.fail(
      `${named} already exists: another backup is running or was interrupted. If none is ` +
        'running, delete this file',
    );
  }
  try {
    const made = await open(target, 'wx', 0o600);
    await made.close();
  } catch (error) {
    failToWrite(context, named, error);
  }
}

function failToWrite(context: ConsoleContext, named: string, error: unknown): never {
  return context.fail(
    `${named} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** The database engine does not flush the copy to disk. */
async function copy(
  context: ConsoleContext,
  write: () => Promise<unknown>,
  target: string,
): Promise<void> {
  await context.progress('Copying the database', write);
  await toDisk(target);
}
