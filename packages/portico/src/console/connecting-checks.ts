import type { AuthorizationServer } from '../authorization-server.ts';
import { getTokens } from '../clients/client-source.ts';
import { hasUsable } from '../clients/initial-access-tokens.ts';
import { getMetadataUrl } from '../tokens/resource-indicators.ts';
import { failing, ok, type Finding } from './checks.ts';
import type { Subject } from './subject.ts';

/**
 * Returns how clients can register without `oauth:client:create`. Returns null if they cannot at
 * the moment. Prefers ways that need no token.
 */
export async function howClientsCome(server: AuthorizationServer): Promise<string | null> {
  const { arrivals, initialAccessTokens, clock } = server;
  const free = arrivals.find(({ tokens }) => tokens === undefined || tokens.command === null);
  if (free !== undefined) return free.says;
  const [byToken] = arrivals;
  if (byToken === undefined || !(await hasUsable(initialAccessTokens, clock()))) return null;
  return byToken.says;
}

/** Returns what an operator can do to get clients for the server. */
export function howToHaveClients({ arrivals }: AuthorizationServer): string {
  const create = "npx portico oauth:client:create '<name>' --redirect=<uri> --scope=<scope>";
  const command = getTokens(arrivals)?.command ?? null;
  return command === null ? `run ${create}` : `run ${create}, or ${command}`;
}

/**
 * Checks the metadata of each API that tokens are for (RFC 9728), if this application publishes it.
 * Clients find the metadata's URL in challenges.
 */
export async function examineResource(subject: Subject): Promise<readonly Finding[]> {
  const { config, resources } = subject.server;
  const audiences = new Set([config.audience, ...resources.map(({ resource }) => resource)]);
  const found: Finding[] = [];
  for (const audience of audiences) found.push(...(await examineMetadata(audience, subject)));
  return found;
}

async function examineMetadata(
  audience: string,
  { application, server }: Subject,
): Promise<readonly Finding[]> {
  if (application.fetch === undefined || !URL.canParse(audience)) return [];
  if (new URL(audience).origin !== server.origin) return [];
  const path = getMetadataUrl(audience).slice(server.origin.length);
  const response = await application.fetch(new Request(`${server.origin}${path}`));
  const isPublished = server.resources.length > 0 || server.resourceMetadataUrl !== null;
  if (response.status === 404 && !isPublished) return [];
  const document = response.status === 200 ? ((await response.json()) as Metadata) : {};
  const { resource, authorization_servers: servers, scopes_supported: scopes = [] } = document;
  if (resource === audience && servers?.includes(server.issuer) === true) {
    return [ok(`${server.origin}${path} describes ${audience}, for ${scopes.join(' ')}`)];
  }
  return [
    failing(
      `${server.origin}${path} returns ${response.status} instead of the metadata of ` +
        `${audience}; clients use that metadata to find this server`,
      'find the application route or hook that responds instead',
    ),
  ];
}

interface Metadata {
  readonly resource?: unknown;
  readonly authorization_servers?: readonly unknown[];
  readonly scopes_supported?: readonly string[];
}
