import type { AddCommands } from '../../application/console-context.ts';
import { authorizationServerOf } from '../open-server.ts';
import { setUpServer } from '../setup.ts';
import { orFail } from './or-fail.ts';

export const addServerSetup: AddCommands = (program, context) => {
  program
    .command('oauth:server:setup')
    .description('create a signing key if none exists, and show what is missing')
    .option('--json', 'print only JSON to standard output')
    .action(async (options: { json?: boolean }) => {
      const application = await context.application();
      const server = authorizationServerOf(application);
      const report = await orFail(context, setUpServer(application, server, { by: 'console' }));
      if (options.json === true) return context.printJson(report);
      const { kid, created } = report.signing_key;
      context.print(
        created ? `Created the signing key ${kid}.` : `The signing key ${kid} already exists.`,
      );
      for (const line of report.missing) context.print(`Missing: ${line}`);
      context.print(
        report.missing.length === 0
          ? 'The authorization server is ready.'
          : 'Fix these problems, then run the command again.',
      );
    });
};
