import type { AuthorizationServer } from '../authorization-server.ts';
import { getTokens } from '../clients/client-source.ts';
import { hasUsable } from '../clients/initial-access-tokens.ts';
import { getMetadataUrl } from '../tokens/resource-indicators.ts';
import type { FetchDocument } from '../examination.ts';
import { failing, ok, type Finding } from './checks.ts';
import type { Subject } from './subject.ts';

/**
 * Tells how clients can register without `oauth:client:create`, preferably without a token. Returns
 * null if they cannot register now.
 */
export async function howClientsCome(server: AuthorizationServer): Promise<string | null> {
  const { arrivals, initialAccessTokens, clock } = server;
  const free = arrivals.find(({ tokens }) => tokens === undefined || tokens.command === null);
  if (free !== undefined) return free.says;
  const [byToken] = arrivals;
  if (byToken === undefined || !(await hasUsable(initialAccessTokens, clock()))) return null;
  return byToken.says;
}

/** The commands with which an operator can add clients. */
export function howToHaveClients({ arrivals }: AuthorizationServer): string {
  const create = "npx portico oauth:client:create '<name>' --redirect=<uri> --scope=<scope>";
  const command = getTokens(arrivals)?.command ?? null;
  return command === null ? `run ${create}` : `run ${create}, or ${command}`;
}

/**
 * Checks the metadata of each protected API that this application publishes (RFC 9728).
 * `WWW-Authenticate` challenges link to it.
 */
export async function examineResource(subject: Subject): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const audience of getAudiences(subject.server))
    found.push(...(await examineMetadata(audience, subject)));
  return found;
}

/**
 * Checks that clients can fetch the metadata of each API from the public address. Skips APIs whose
 * metadata this process does not serve. Without the kit, the application may not have mounted the
 * endpoint.
 */
export async function examinePublicResource(
  { application, server }: Subject,
  fetchDocument: FetchDocument,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const audience of getAudiences(server)) {
    const url = getOwnMetadataUrl(audience, server);
    if (url === null || (await application.fetch?.(new Request(url)))?.status !== 200) continue;
    const asked = await fetchDocument(url);
    if ('fault' in asked) found.push({ ...asked.fault, remedy: MOUNT_IT });
    else if (describes(asked.document, audience, server))
      found.push(ok(`${url} returns the metadata of ${audience}`));
    else found.push(failing(`${url} does not return the metadata of ${audience}`, MOUNT_IT));
  }
  return found;
}

const MOUNT_IT =
  'mount every endpoint of the application. If you use @portico/mcp, mount portico(server, ' +
  'mcpServerOf(application)). If the endpoint is already mounted, make the proxy forward the ' +
  'path of this URL to the application';

function getAudiences({ config, resources }: AuthorizationServer): ReadonlySet<string> {
  return new Set([config.audience, ...resources.map(({ resource }) => resource)]);
}

/** Returns null if the API is not at the server's origin. */
function getOwnMetadataUrl(audience: string, { origin }: AuthorizationServer): string | null {
  if (!URL.canParse(audience) || new URL(audience).origin !== origin) return null;
  return getMetadataUrl(audience);
}

function describes(document: Metadata, audience: string, { issuer }: AuthorizationServer): boolean {
  const { resource, authorization_servers: servers } = document;
  return resource === audience && servers?.includes(issuer) === true;
}

async function examineMetadata(
  audience: string,
  { application, server }: Subject,
): Promise<readonly Finding[]> {
  const url = getOwnMetadataUrl(audience, server);
  if (application.fetch === undefined || url === null) return [];
  const response = await application.fetch(new Request(url));
  const isPublished = server.resources.length > 0 || server.resourceMetadataUrl !== null;
  if (response.status === 404 && !isPublished) return [];
  const document = response.status === 200 ? ((await response.json()) as Metadata) : {};
  const { scopes_supported: scopes = [] } = document;
  if (describes(document, audience, server))
    return [ok(`${url} returns the metadata of ${audience} (scopes: ${scopes.join(' ')})`)];
  return [
    failing(
      `${url} returns ${response.status} instead of the metadata of ${audience}, which ` +
        'clients use to find this server',
      'find out which route or hook of the application sends this response',
    ),
  ];
}

interface Metadata {
  readonly resource?: unknown;
  readonly authorization_servers?: readonly unknown[];
  readonly scopes_supported?: readonly string[];
}
