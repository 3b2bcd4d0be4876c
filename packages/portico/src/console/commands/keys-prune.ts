import { readSpan } from '../spans.ts';
import type { AddCommands } from '../../application/console-context.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addKeysPrune: AddCommands = (program, context) => {
  program
    .command('oauth:keys:prune')
    .description('remove old keys (see --older-than), but keep the newest key of each algorithm')
    .option(
      '--older-than <span>',
      'remove only keys that stopped signing at least this long ago, such as 30d (default: ' +
        'oauth_server:id_token_ttl)',
    )
    .option('--json', 'print only JSON to standard output')
    .action(async (options: { olderThan?: string; json?: boolean }) => {
      const { keys, config } = await openServer(context);
      const { olderThan } = options;
      const age =
        olderThan === undefined
          ? config.id_token_ttl
          : readSpan(context, '--older-than', olderThan);
      const removed = await orFail(context, keys.prune(age, { by: 'console' }));
      if (options.json === true) return context.printJson({ removed });
      for (const kid of removed) context.print(`Removed the key ${kid}.`);
      if (removed.length === 0) context.print('No key is old enough to be removed.');
    });
};
