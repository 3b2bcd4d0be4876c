import { Argument } from 'commander';
import type { AddCommands } from '../../../application/console-context.ts';

/**
 * `db:migrate up`, with the option `--print`, and `db:migrate status`, for all migrations of the
 * application and its plugins.
 */
export const addDbMigrate: AddCommands = (program, context) => {
  program
    .command('db:migrate')
    .description(
      'apply the missing database migrations (up), or show which migrations are applied (status)',
    )
    .addArgument(new Argument('<action>').choices(['up', 'status']))
    .option(
      '--print',
      'with up: print the SQL of the missing migrations but do not run it, for use with ' +
        'another migration tool',
    )
    .option('--json', 'print only JSON to standard output')
    .action(async (action: 'up' | 'status', options: { json?: boolean; print?: boolean }) => {
      if (options.print === true && (action !== 'up' || options.json === true))
        context.fail('--print works only with up: npx portico db:migrate up --print');
      const application = await context.application();
      if (options.print === true) {
        const sql = await application.printMigrations();
        if (sql === '') context.note('The schema is up to date.');
        else context.print(sql.trimEnd());
        return;
      }
      if (action === 'up') {
        const applied = await context.progress('Applying the schema', (report) =>
          application.migrate(undefined, ({ name, number, of, isFirst }) =>
            report(`${name}, ${number} of ${of}`, { atOnce: !isFirst }),
          ),
        );
        if (options.json === true) return context.printJson({ applied });
        for (const name of applied) context.print(`Applied ${name}.`);
        if (applied.length === 0) context.print('The schema is up to date.');
        return;
      }
      const states = await application.migrations();
      if (options.json === true) return context.printJson(states);
      for (const { name, appliedAt } of states)
        context.print(`${(appliedAt ?? 'pending').padEnd(26)} ${name}`);
    });
};
