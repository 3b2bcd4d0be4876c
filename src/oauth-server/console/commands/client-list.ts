import type { AddCommands } from '../../../host/contracts.ts';
import { openServer } from '../open-server.ts';
import type { Client } from '../../store/store.ts';
import { clientMetadata } from './client-metadata.ts';

export const addClientList: AddCommands = (program, context) => {
  program
    .command('oauth:client:list')
    .description('list the registered applications')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (options: { json?: boolean }) => {
      const clients = await (await openServer(context)).clients.list();
      if (options.json === true) return context.printJson(clients.map(clientMetadata));
      if (clients.length === 0)
        return context.note('No application is registered; see oauth:client:create --help.');
      context.print(clients.map(describe).join('\n\n'));
    });
};

function describe(client: Client): string {
  const kind = client.public ? 'public' : 'confidential';
  return [
    `${client.id}  ${client.name}  (${client.revokedAt === null ? kind : `${kind}, revoked`})`,
    `  grants     ${client.grants.join(', ')}`,
    ...(client.scopes.length === 0 ? [] : [`  scopes     ${client.scopes.join(', ')}`]),
    ...(client.idTokenSignedResponseAlg === 'RS256'
      ? []
      : [`  ID tokens  ${client.idTokenSignedResponseAlg}`]),
    ...describeRotation(client),
    ...client.redirectUris.map((uri) => `  redirect   ${uri}`),
  ].join('\n');
}

/** While a rotation is open, the previous secret is still accepted. */
function describeRotation({ revokedAt, previousSecretExpiresAt }: Client): readonly string[] {
  if (revokedAt !== null) return [];
  if (previousSecretExpiresAt === null || previousSecretExpiresAt <= Date.now()) return [];
  return [
    `  rotation   open: the previous secret is accepted until ${new Date(previousSecretExpiresAt).toISOString()}`,
  ];
}
