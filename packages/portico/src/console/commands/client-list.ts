import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import type { ClientDemand } from '../../store/client-demands.ts';
import type { ClientList } from '../../clients/listing.ts';
import { isVerified } from '../../clients/who-asks.ts';
import { quoted } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import type { ShownClient } from '../../clients/describing.ts';
import type { HoldingClient } from '../../store/authorization-search.ts';
import type { Client } from '../../store/client.ts';
import {
  furtherJson,
  marksOf,
  type FurtherValues,
  type MetadataField,
} from '../../store/further-metadata.ts';
import type { AuthorizationServer } from '../../authorization-server.ts';
import type { ClientChoices } from './client-create.ts';
import { clientMetadata } from './client-metadata.ts';
import { readPage, type PageOptions } from './list-options.ts';
import { orFail } from './or-fail.ts';

export const addClientList =
  ({ fields }: ClientChoices): AddCommands =>
  (program, context) => {
    program
      .command('oauth:client:list')
      .description('list the registered applications')
      .option(
        '--limit <number>',
        'print one page of at most this many applications (1 to 1000), sorted by id. Without ' +
          '--limit and --after, the command prints all applications, oldest first',
      )
      .option(
        '--after <cursor>',
        'show the next page; use the cursor that the previous page printed',
      )
      .option(
        '--json',
        'print only JSON to standard output: a list, or { items, next } with --limit or --after',
      )
      .action(async ({ json, ...page }: PageOptions & { readonly json?: boolean }) => {
        const server = await openServer(context);
        if (page.limit !== undefined || page.after !== undefined) {
          const found = await orFail(context, server.clients.page(readPage(page)));
          const listing = await listingOf(found.items, server, fields);
          return printPage(context, found, json === true, listing);
        }
        const clients = await server.clients.list();
        const listing = await listingOf(clients, server, fields);
        if (json === true) return context.printJson(clients.map(listing.json));
        if (clients.length === 0)
          return context.note(
            'No application is registered. To register one, see oauth:client:create --help.',
          );
        context.print(clients.map(listing.text).join('\n\n'));
      });
  };

interface Listing {
  readonly json: (client: Client) => Readonly<Record<string, unknown>>;
  readonly text: (client: Client) => string;
}

/**
 * Of the fields that features add, the list shows only those that a client cannot set.
 * `oauth:client:show` shows all.
 */
async function listingOf(
  clients: readonly Client[],
  server: AuthorizationServer,
  allFields: readonly MetadataField[],
): Promise<Listing> {
  const fields = allFields.filter(({ selfRegistered }) => selfRegistered === 'never');
  const further = fields.length === 0 ? null : await server.clients.metadataOf(clients);
  const marksIn = (values: FurtherValues) =>
    Object.fromEntries(fields.map(({ name }) => [name, values[name] ?? []]));
  const valuesOf = ({ id }: Client) => marksIn(further?.get(id) ?? {});
  return {
    json: (client) => ({
      ...clientMetadata(client, server.demands),
      ...furtherJson(fields, valuesOf(client)),
    }),
    text: (client) => describe(client, server.demands, marksOf(fields, valuesOf(client))),
  };
}

function printPage(
  context: ConsoleContext,
  { items, next }: ClientList,
  json: boolean,
  listing: Listing,
): void {
  if (json) return context.printJson({ items: items.map(listing.json), next });
  if (items.length === 0) return context.note('There are no more applications.');
  context.print(items.map(listing.text).join('\n\n'));
  if (next !== null) context.note(`There are more. Continue with --after ${next}`);
}

function describe(
  client: Client,
  demands: readonly ClientDemand[],
  marks: readonly string[],
): string {
  return [
    `${client.id}  ${getName(client)}  (${[...listKinds(client), ...marks].join(', ')})`,
    `  grants     ${client.grants.join(', ')}`,
    ...(client.scopes.length === 0 ? [] : [`  scopes     ${client.scopes.join(', ')}`]),
    ...(client.idTokenSignedResponseAlg === 'RS256'
      ? []
      : [`  ID tokens  ${client.idTokenSignedResponseAlg}`]),
    ...describeKeys(client),
    ...demands.flatMap(({ field, shown }) =>
      client[field] ? [`  ${shown.what.padEnd(10)} ${shown.as}`] : [],
    ),
    ...(client.profile === null ? [] : [`  profile    ${client.profile}`]),
    ...describeRotation(client),
    ...client.redirectUris.map((uri) => `  redirect   ${uri}`),
  ].join('\n');
}

/**
 * A client may have chosen its name. Such a name is in quotes. Characters that move the terminal's
 * cursor or change the text direction are escaped.
 */
export function getName(client: HoldingClient): string {
  return isVerified(client) ? client.name : quoted(client.name);
}

export function listKinds({
  public: isPublic,
  applicationType,
  registeredBy,
  revokedAt,
}: ShownClient['client']): readonly string[] {
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
  const { workload } = keys;
  if (workload !== undefined) return [`  workload   ${workload.subject} of ${workload.issuer}`];
  const algorithm = keys.algorithm === null ? '' : `, ${keys.algorithm}`;
  return [`  keys       ${keys.jwksUri ?? 'stored by the server'} (private_key_jwt${algorithm})`];
}

/** Returns a line about the previous secret while it works after a rotation. */
function describeRotation({ revokedAt, previousSecretExpiresAt }: Client): readonly string[] {
  if (revokedAt !== null) return [];
  if (previousSecretExpiresAt === null || previousSecretExpiresAt <= Date.now()) return [];
  return [
    '  rotation   open: the previous secret is accepted ' +
      `until ${new Date(previousSecretExpiresAt).toISOString()}`,
  ];
}
