import type { AddCommands } from '../../../host/contracts.ts';
import { isVerified } from '../../clients/who-asks.ts';
import { quoted } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import type { Client } from '../../store/client.ts';
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
  return [
    `${client.id}  ${nameOf(client)}  (${kindsOf(client).join(', ')})`,
    `  grants     ${client.grants.join(', ')}`,
    ...(client.scopes.length === 0 ? [] : [`  scopes     ${client.scopes.join(', ')}`]),
    ...(client.idTokenSignedResponseAlg === 'RS256'
      ? []
      : [`  ID tokens  ${client.idTokenSignedResponseAlg}`]),
    ...describeKeys(client),
    ...(client.pushesRequests ? ['  requests   pushed (RFC 9126), and no others'] : []),
    ...(client.dpopBoundAccessTokens ? ['  tokens     bound to its key (DPoP)'] : []),
    ...(client.profile === null ? [] : [`  profile    ${client.profile}`]),
    ...describeRotation(client),
    ...client.redirectUris.map((uri) => `  redirect   ${uri}`),
  ].join('\n');
}

/** What anybody may have called himself stands in quotes, without what moves a terminal's cursor or turns text around. */
export function nameOf(client: Pick<Client, 'name' | 'registeredBy'>): string {
  return isVerified(client) ? client.name : quoted(client.name);
}

export function kindsOf({
  public: isPublic,
  applicationType,
  registeredBy,
  revokedAt,
}: Pick<Client, 'public' | 'applicationType' | 'registeredBy' | 'revokedAt'>): readonly string[] {
  return [
    isPublic ? 'public' : 'confidential',
    ...(applicationType === 'native' ? ['native'] : []),
    ...(registeredBy === 'operator'
      ? []
      : [registeredBy === 'document' ? 'a document' : 'registered itself']),
    ...(revokedAt === null ? [] : [registeredBy === 'document' ? 'blocked' : 'revoked']),
  ];
}

function describeKeys({ keys }: Client): readonly string[] {
  if (keys === null) return [];
  const algorithm = keys.algorithm === null ? '' : `, ${keys.algorithm}`;
  return [`  keys       ${keys.jwksUri ?? 'its own, kept here'} (private_key_jwt${algorithm})`];
}

/** While a rotation is open, the previous secret is still accepted. */
function describeRotation({ revokedAt, previousSecretExpiresAt }: Client): readonly string[] {
  if (revokedAt !== null) return [];
  if (previousSecretExpiresAt === null || previousSecretExpiresAt <= Date.now()) return [];
  return [
    `  rotation   open: the previous secret is accepted until ${new Date(previousSecretExpiresAt).toISOString()}`,
  ];
}
