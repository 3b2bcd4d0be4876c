import type { AddCommands } from '../../application/contracts.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addClientUnblock: AddCommands = (program, context) => {
  program
    .command('oauth:client:unblock')
    .description(
      'let an application that is the URL of a document, and that oauth:client:revoke blocked, be one again: what it had been ' +
        'given stays revoked, and people have to allow it again',
    )
    .argument('<url>')
    .action(async (url: string) => {
      const { clients } = await openServer(context);
      await orFail(context, clients.unblock(url, { by: 'console' }));
      context.print(
        `The URL ${url} is no longer blocked: its document is read again, and everyone is asked again. ` +
          'Nothing that it had been given before lives again.',
      );
    });
};
