import { SERVICE_SCOPE } from '@portico/mcp';
import type { AuthorizationServer, Client, Grant } from 'portico';
import { livingClients } from 'portico/extension';
import type { AssistantConfig } from './config.ts';

/**
 * The roles of the assistant's two clients. The service client is for requests that need no user,
 * and the account-linking client is for users who have linked their accounts.
 */
export type ClientRole = 'service' | 'account-linking';

/** A client that the configuration requires. */
export interface WantedClient {
  readonly role: ClientRole;
  readonly name: string;
  readonly grants: readonly Grant[];
  readonly scopes: readonly string[];
  readonly redirectUris: readonly string[];
}

/** The registered client for a role, compared with the configuration. */
export interface FoundClient {
  readonly wanted: WantedClient;
  /** The registered client, or null if none is registered for this role. */
  readonly client: Client | null;
  /** How the registered client differs from the configuration. Empty if it does not differ. */
  readonly differences: readonly string[];
}

export function wantedClients(
  server: AuthorizationServer,
  config: AssistantConfig,
): readonly WantedClient[] {
  // A registered client's name is trimmed, and its lists have no duplicates, so do the same here.
  const name = server.config.name.trim();
  const service: WantedClient = {
    role: 'service',
    name: `${name} service`,
    grants: ['client_credentials'],
    scopes: [SERVICE_SCOPE],
    redirectUris: [],
  };
  if (!config.account_linking) return [service];
  const linking: WantedClient = {
    role: 'account-linking',
    name,
    grants: ['authorization_code', 'refresh_token'],
    scopes: [...new Set(config.user_scopes)],
    redirectUris: [...new Set(config.redirect_uris)],
  };
  return [service, linking];
}

/**
 * Returns the registered client for each role. If several clients could have a role, prefers one
 * that matches the configuration.
 */
export async function findClients(
  server: AuthorizationServer,
  config: AssistantConfig,
): Promise<readonly FoundClient[]> {
  const active = await livingClients(server, ({ registeredBy }) => registeredBy === 'operator');
  return wantedClients(server, config).map((wanted) => {
    const found = active
      .filter((client) => playsRole(client, wanted))
      .map((client) => compareClient(client, wanted));
    return (
      found.find(({ differences }) => differences.length === 0) ??
      found[0] ?? { wanted, client: null, differences: [] }
    );
  });
}

/**
 * Whether a client has this role. Only clients that an operator registered have a role, because
 * other clients can choose any name and callback. The service client has the service scope. The
 * account-linking client has the name from `assistant:setup`, and a configured callback or scope.
 * The vendor's callback alone does not identify this client, because other clients may use it too.
 */
export function playsRole(
  client: Client,
  { role, name, scopes, redirectUris }: WantedClient,
): boolean {
  if (client.registeredBy !== 'operator') return false;
  if (role === 'service') return client.scopes.includes(SERVICE_SCOPE);
  return (
    client.name === name &&
    !client.scopes.includes(SERVICE_SCOPE) &&
    (client.redirectUris.some((uri) => redirectUris.includes(uri)) ||
      client.scopes.some((scope) => scopes.includes(scope)))
  );
}

/** Compares a registered client with the client that the configuration requires. */
export function compareClient(client: Client, wanted: WantedClient): FoundClient {
  return { wanted, client, differences: findDifferences(client, wanted) };
}

function findDifferences(client: Client, wanted: WantedClient): readonly string[] {
  const compare = (what: string, registered: readonly string[], configured: readonly string[]) =>
    registered.toSorted().join(' ') === configured.toSorted().join(' ')
      ? []
      : [`its ${what}: registered ${shown(registered)}, configured ${shown(configured)}`];
  return [
    ...(client.public ? ['it is public, but must have a secret'] : []),
    ...(client.keys === null ? [] : ['it authenticates with keys, but must have a secret']),
    ...compare('grants', client.grants, wanted.grants),
    ...compare('scopes', client.scopes, wanted.scopes),
    ...compare('redirect URIs', client.redirectUris, wanted.redirectUris),
  ];
}

function shown(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.join(' ');
}

/** Returns advice on what to do if a client differs from the configuration. */
export function differenceRemedy({ id }: Client): string {
  return (
    'review the difference. To use the configuration instead, revoke the client with npx portico ' +
    `oauth:client:revoke ${id}, and run npx portico assistant:setup again`
  );
}
