import type { AddCommands } from '../../application/console-context.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addClientUnblock: AddCommands = (program, context) => {
  program
    .command('oauth:client:unblock')
    .description(
      'unblock the URL of a client document that oauth:client:revoke blocked. Earlier access ' +
        'stays revoked: people must allow the application again',
    )
    .argument('<url>')
    .action(async (url: string) => {
      const { clients } = await openServer(context);
      await orFail(context, clients.unblock(url, { by: 'console' }));
      context.print(
        `The URL ${url} is no longer blocked. People must allow the application again. ` +
          'Earlier access stays revoked.',
      );
    });
};
