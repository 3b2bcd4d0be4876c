import type { AddCommands } from '../../application/console-context.ts';
import type { RegisteredBy } from '../../store/client.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addClientRevoke: AddCommands = (program, context) => {
  program
    .command('oauth:client:revoke')
    .description(
      'revoke an application and all its tokens. If you pass the URL of a client document, ' +
        'the URL is blocked, even if no one has used it yet',
    )
    .argument('<client_id>')
    .action(async (clientId: string) => {
      const { clients } = await openServer(context);
      const { client, wasKnown } = await orFail(
        context,
        clients.revoke(clientId, { by: 'console' }),
      );
      context.print(REVOKED[client.registeredBy](clientId, wasKnown));
      if (client.registeredBy === 'operator') return;
      const hint = client.registeredBy === 'document' ? denyHost(clientId) : REGISTERS_AGAIN;
      context.note(hint);
    });
};

const REVOKED: Readonly<Record<RegisteredBy, (clientId: string, wasKnown: boolean) => string>> = {
  operator: (id) => `The client ${id} and all its tokens are revoked.`,
  registration: (id) =>
    `The client ${id}, which registered itself, and all its tokens are revoked.`,
  document: (id, wasKnown) =>
    wasKnown
      ? `The URL ${id} is blocked. People can no longer allow this application. All its ` +
        'tokens are revoked.'
      : `The URL ${id} is blocked. No person has used it yet. People cannot allow this ` +
        'application.',
};

function denyHost(url: string): string {
  return (
    `Other documents of ${new URL(url).hostname} are not blocked. To block them too, add the ` +
    'host to ' +
    'oauth_server:client_id_metadata_documents:denied_hosts.'
  );
}

const REGISTERS_AGAIN =
  'It can register again as another client while oauth_server:registration allows it.';
