import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { AddCommands, Application, ConsoleContext } from '../../contracts.ts';

/** `db:backup <file>`: a copy of a SQLite database as it is at one moment, also while processes write to it. */
export const addDbBackup: AddCommands = (program, context) => {
  program
    .command('db:backup')
    .description(
      'copy the SQLite database to a new file, while processes serve; for a server use its own tool',
    )
    .argument('<file>', 'where to; there must be none of this name')
    .action(async (file: string) => {
      const { database } = await context.application();
      if (database.dialect !== 'sqlite') context.fail(OF_SERVERS[database.dialect]);
      const target = path.resolve(file);
      if (existsSync(target)) context.fail(`${file} is there already, and nothing was written`);
      const part = `${target}.part`;
      await makeOwn(context, part, `${file}.part`);
      try {
        await copy(context, database, part);
        await rename(part, target);
      } finally {
        await rm(part, { force: true });
      }
      await toDisk(path.dirname(target));
      context.print(`The database is copied to ${file}. The signing keys are not in it.`);
    });
};

/** An empty file for its owner alone, which SQLite takes as it is. One that is there is another copy's, which may be on its way. */
async function makeOwn(context: ConsoleContext, target: string, named: string): Promise<void> {
  const folder = path.dirname(target);
  if (!existsSync(folder)) context.fail(`There is no folder ${folder}`);
  if (existsSync(target)) {
    context.fail(`${named} is there: another copy is being written, or was cut off; remove it if none is`);
  }
  try {
    const made = await open(target, 'wx', 0o600);
    await made.close();
  } catch (error) {
    context.fail(`${named} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** SQLite does not wait until what `VACUUM INTO` writes is on the disk. */
async function copy(
  context: ConsoleContext,
  database: Application['database'],
  target: string,
): Promise<void> {
  await context.progress('Copying the database', () => database.execute('VACUUM INTO ?', [target]));
  await toDisk(target);
}

async function toDisk(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const OF_SERVERS = {
  postgres: 'This database is on a server: use pg_dump, or a base backup with its log (docs/backup.md)',
  mysql: 'This database is on a server: use mariadb-dump --single-transaction (docs/backup.md)',
} as const;
