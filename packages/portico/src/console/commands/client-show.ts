import type { AddCommands } from '../../application/console-context.ts';
import type { ClientDemand } from '../../store/client-demands.ts';
import type { DescribedKey, ShownClient } from '../../clients/describing.ts';
import { furtherJson, marksOf, type MetadataField } from '../../store/further-metadata.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import type { ClientChoices } from './client-create.ts';
import { listKinds, getName } from './client-list.ts';
import { clientMetadata, toSeconds } from './client-metadata.ts';
import { orFail } from './or-fail.ts';

export const addClientShow =
  ({ fields }: ClientChoices): AddCommands =>
  (program, context) => {
    program
      .command('oauth:client:show')
      .description('show everything that is stored about an application, except its secrets')
      .argument(
        '<client_id>',
        'the client id, or the URL of the client document; see oauth:client:list',
      )
      .option('--json', 'print only JSON to standard output; times are in seconds since 1970')
      .action(async (clientId: string, options: { json?: boolean }) => {
        const { clients, demands } = await openServer(context);
        const shown = await orFail(context, clients.show(clientId));
        if (options.json === true) return context.printJson(json(shown, demands, fields));
        context.print(describe(shown, demands, fields).join('\n'));
      });
  };

/** Returns the client's data for `--json`: the fields of RFC 7591 section 2, and Portico's own. */
function json(
  shown: ShownClient,
  demands: readonly ClientDemand[],
  fields: readonly MetadataField[],
): Readonly<Record<string, unknown>> {
  const { client, status, keys, secret, scopesNotOffered, refusal, metadata } = shown;
  return {
    ...clientMetadata(client, demands),
    ...furtherJson(fields, metadata),
    status,
    keys,
    previous_secret_expires_at: toSeconds(secret?.previousAcceptedUntil ?? null),
    scopes_not_offered: scopesNotOffered,
    refused_because: refusal,
    last_used_at: toSeconds(client.usedAt),
  };
}

const REGISTERED_BY = {
  operator: 'an operator',
  registration: 'the application itself (RFC 7591); its information is not verified',
  document: 'the document at its id; its information is not verified',
} as const;

function describe(
  shown: ShownClient,
  demands: readonly ClientDemand[],
  fields: readonly MetadataField[],
): readonly string[] {
  const { client, status, scopesNotOffered, refusal, metadata } = shown;
  const kinds = [...listKinds(client), ...marksOf(fields, metadata)];
  const lists = fields.filter(({ selfRegistered }) => selfRegistered !== 'never');
  const facts: readonly (readonly [string, string | readonly string[]])[] = [
    ['status', refusal === null ? status : `${status}, but cannot get tokens now: ${refusal}`],
    ['registered', `${time(client.createdAt)} by ${REGISTERED_BY[client.registeredBy]}`],
    ['last used', lastUse(shown)],
    ['ended', client.revokedAt === null ? [] : time(client.revokedAt)],
    ['grants', client.grants.join(', ')],
    [
      'scopes',
      client.scopes
        .map((name) => (scopesNotOffered.includes(name) ? `${name} (no longer offered)` : name))
        .join(', '),
    ],
    ['redirect', client.redirectUris],
    ['authenticates', provesItself(shown)],
    ['key', shown.keys.map(describeKey)],
    ['ID tokens', client.scopes.includes('openid') ? client.idTokenSignedResponseAlg : []],
    ...demands.map(
      ({ field, shown: { what, inFull } }) => [what, client[field] ? inFull : []] as const,
    ),
    ['profile', client.profile ?? []],
    ...lists.map(({ name }) => [name, metadata[name] ?? []] as const),
  ];
  const lines = facts.flatMap(([name, value]) =>
    [value].flat().map((each) => `  ${name.padEnd(14)} ${each}`),
  );
  return [`${client.id}  ${getName(client)}  (${kinds.join(', ')})`, ...lines];
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The server records the last use only for clients that no operator registered. */
function lastUse({ client: { registeredBy, usedAt } }: ShownClient): string {
  if (registeredBy === 'operator')
    return 'not recorded for applications that an operator registered';
  return usedAt === null ? 'never' : `${time(usedAt)} (recorded once a day)`;
}

function provesItself({ client, secret }: ShownClient): string {
  const { keys } = client;
  if (keys?.workload !== undefined)
    return `as the workload ${keys.workload.subject}, with tokens from ${keys.workload.issuer}`;
  if (keys !== null) {
    const algorithm = keys.algorithm === null ? '' : `, only with ${keys.algorithm}`;
    const place =
      keys.jwksUri === null
        ? 'its keys, stored by the server'
        : `the keys that it publishes at ${keys.jwksUri}`;
    return `by ${place} (private_key_jwt)${algorithm}`;
  }
  if (secret === null) return 'without a secret or key: it is a public client, protected by PKCE';
  const { previousAcceptedUntil: until } = secret;
  const { secretExpiresAt: end } = client;
  const own = end === null ? 'by its secret' : `by its secret, which expires at ${time(end)}`;
  return until === null
    ? `${own}; no previous secret is accepted`
    : `${own}; the previous secret is accepted until ${time(until)}`;
}

/** The client may have chosen the key id, so it is in quotes. */
function describeKey({ kid, kty, alg, thumbprint }: DescribedKey): string {
  return (
    `${kid === null ? 'without a kid' : quotedPublic(kid)}, ` +
    `${kty}${alg === null ? '' : `, ${alg}`}, thumbprint ${thumbprint}`
  );
}
