import type { AuthorizationServer } from '../authorization-server.ts';
import { failing, ok, warning, type Finding } from './checks.ts';
import { everyClient } from './every-client.ts';
import type { Subject } from './subject.ts';

/** The ways in which clients come without an operator. Skipped if all of them are off. */

/** How clients can become known without `oauth:client:create`. Null if they cannot, or not now. */
export async function howClientsCome(server: AuthorizationServer): Promise<string | null> {
  const { registration = 'off' } = server.config;
  const [arrival] = server.arrivals;
  if (registration === 'open') return 'clients register themselves';
  if (arrival !== undefined) return arrival.says;
  if (registration === 'off' || !(await hasInitialToken(server))) return null;
  return 'clients register themselves with an initial access token';
}

/** What an operator can do to enable one. */
export function howToHaveClients({ config }: AuthorizationServer): string {
  const create = "npx portico oauth:client:create '<name>' --redirect=<uri> --scope=<scope>";
  return config.registration === 'initial_access_token' ? `run ${create}, or ${NEW_TOKEN}` : `run ${create}`;
}

const NEW_TOKEN = 'npx portico oauth:initial-access-token:create';

async function hasInitialToken({ initialAccessTokens, clock }: AuthorizationServer): Promise<boolean> {
  const now = clock();
  return (await initialAccessTokens.list()).some(
    ({ usesLeft, expiresAt }) => usesLeft > 0 && expiresAt > now,
  );
}

export async function examineRegistration({ server }: Subject): Promise<readonly Finding[]> {
  const { registration = 'off' } = server.config;
  if (registration === 'off') return [];
  let [living, unused] = [0, 0];
  for await (const { registeredBy, revokedAt, usedAt } of everyClient(server)) {
    if (registeredBy !== 'registration' || revokedAt !== null) continue;
    living += 1;
    if (usedAt === null) unused += 1;
  }
  const found = `${living} registered themselves, ${unused} of which no one has used`;
  if (registration === 'open') return [ok(`open; ${found}`)];
  if (await hasInitialToken(server)) return [ok(`by initial access token; ${found}`)];
  return [warning(`no initial access token can be used; ${found}`, `run ${NEW_TOKEN}`)];
}

/**
 * The metadata of the audience (RFC 9728), if this application publishes them: challenges point
 * there.
 */
export async function examineResource({ application, server }: Subject): Promise<readonly Finding[]> {
  const { audience } = server.config;
  if (application.fetch === undefined || !URL.canParse(audience)) return [];
  const { origin, pathname, search } = new URL(audience);
  if (origin !== server.origin) return [];
  const path = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`;
  const response = await application.fetch(new Request(`${server.origin}${path}`));
  if (response.status === 404 && server.resourceMetadataUrl === null) return [];
  const document = response.status === 200 ? ((await response.json()) as Metadata) : {};
  const { resource, authorization_servers: servers, scopes_supported: scopes = [] } = document;
  if (resource === audience && servers?.includes(server.issuer) === true) {
    return [ok(`${server.origin}${path} describes ${audience}, for ${scopes.join(' ')}`)];
  }
  return [
    failing(
      `${server.origin}${path} is answered with ${response.status}, not with the metadata of ${audience}, where clients look for this server`,
      'look for a route or a hook of the application in its place',
    ),
  ];
}

interface Metadata {
  readonly resource?: unknown;
  readonly authorization_servers?: readonly unknown[];
  readonly scopes_supported?: readonly string[];
}
