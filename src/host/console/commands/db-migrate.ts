import { Argument } from 'commander';
import type { AddCommands } from '../../contracts.ts';

/** `db:migrate up` and `db:migrate status`, over every migration of the application and its plugins. */
export const addDbMigrate: AddCommands = (program, context) => {
  program
    .command('db:migrate')
    .description('apply the schema (up), or show what is applied (status)')
    .addArgument(new Argument('<action>').choices(['up', 'status']))
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (action: 'up' | 'status', options: { json?: boolean }) => {
      const application = await context.application();
      if (action === 'up') {
        const applied = await application.migrate();
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
