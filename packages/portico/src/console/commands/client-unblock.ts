import type { AddCommands } from '../../application/contracts.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addClientUnblock: AddCommands = (program, context) => {
  program
    .command('oauth:client:unblock')
    .description(
      'unblock the URL of a document that oauth:client:revoke blocked: its old access stays revoked, and people must allow it again',
    )
    .argument('<url>')
    .action(async (url: string) => {
      const { clients } = await openServer(context);
      await orFail(context, clients.unblock(url, { by: 'console' }));
      context.print(
        `The URL ${url} is no longer blocked: its document is read again, and people are asked again. ` +
          'Access that it had before stays revoked.',
      );
    });
};
