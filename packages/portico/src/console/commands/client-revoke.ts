import type { AddCommands } from '../../application/contracts.ts';
import type { RegisteredBy } from '../../store/client.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addClientRevoke: AddCommands = (program, context) => {
  program
    .command('oauth:client:revoke')
    .description(
      'end an application: it and its tokens are refused from now on; the URL of a document is blocked, even if no one has ' +
        'used it here',
    )
    .argument('<client_id>')
    .action(async (clientId: string) => {
      const { clients } = await openServer(context);
      const { client, wasKnown } = await orFail(context, clients.revoke(clientId, { by: 'console' }));
      context.print(REVOKED[client.registeredBy](clientId, wasKnown));
      if (client.registeredBy === 'operator') return;
      const hint = client.registeredBy === 'document' ? denyHost(clientId) : REGISTERS_AGAIN;
      context.note(hint);
    });
};

const REVOKED: Readonly<Record<RegisteredBy, (clientId: string, wasKnown: boolean) => string>> = {
  operator: (id) => `The client ${id} and every token issued to it are revoked.`,
  registration: (id) =>
    `The client ${id}, which registered itself, and every token issued to it are revoked.`,
  document: (id, wasKnown) =>
    wasKnown
      ? `The URL ${id} is blocked: no one can allow this application any more, and every token issued to it is revoked.`
      : `The URL ${id} is blocked before anyone has used it here: no one can allow this application.`,
};

function denyHost(url: string): string {
  return (
    `Other documents of ${new URL(url).hostname} are not: deny the host in ` +
    'oauth_server:client_id_metadata_documents:denied_hosts if they should be.'
  );
}

const REGISTERS_AGAIN =
  'It can register again, as another client, as long as oauth_server:registration is open to it.';
