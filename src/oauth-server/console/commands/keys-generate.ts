import type { AddCommands } from '../../../host/contracts.ts';
import { openServer } from '../open-server.ts';

export const addKeysGenerate: AddCommands = (program, context) => {
  program
    .command('oauth:keys:generate')
    .description('add a signing key, which signs from now on; the keys before it stay published')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (options: { json?: boolean }) => {
      const { kid } = await (await openServer(context)).keys.generate();
      if (options.json === true) return context.printJson({ kid });
      context.print(`The key ${kid} signs from now on; the keys before it stay published.`);
    });
};
