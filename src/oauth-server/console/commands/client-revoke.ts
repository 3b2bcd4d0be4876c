import type { AddCommands } from '../../../host/contracts.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addClientRevoke: AddCommands = (program, context) => {
  program
    .command('oauth:client:revoke')
    .description('end an application: it and every token issued to it are refused from now on')
    .argument('<client_id>')
    .action(async (clientId: string) => {
      await orFail(context, (await openServer(context)).clients.revoke(clientId));
      context.print(`The client ${clientId} and every token issued to it are revoked.`);
    });
};
