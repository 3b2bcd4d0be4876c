import { type AuthorizationServer, BearerError, type ProtectedApi, token } from 'portico';
import { getRequestId, withCurrentRequestId } from 'portico/extension';
import { ConfigurationError, type Log } from '@portico/sql';
import { Challenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { refusal, getRefusal } from './refusal.ts';
import { routeEnding, siblingsAt, type Siblings } from './siblings.ts';
import type { ToolRegistry } from './tools/tools.ts';
import { offeredVersions, type OfferedVersions } from './protocol/versions.ts';

/** The path of an application's first MCP endpoint, below the issuer. */
export const MCP_PATH = '/mcp';

/** Options of `createMcpServer`. */
export interface McpServerOptions {
  /** The authorization server whose tokens the endpoint accepts. */
  readonly server: AuthorizationServer;
  /** The section `mcp`, validated by `mcpConfiguration`. */
  readonly config: McpConfig;
  /** The tools to serve. You can register more tools later. */
  readonly tools: ToolRegistry;
  /** The log of the endpoint. It also receives the exceptions that tools throw. */
  readonly log: Log;
  /**
   * The endpoint's path, below the issuer. The endpoint's resource must be in
   * `oauth_server:resources`, or be `oauth_server:audience`. Default: `/mcp`.
   */
  readonly path?: string;
}

const NEEDED = 'A bearer token for this resource is needed.';
const ENDED = 'The bearer token is not valid here: unknown, expired or revoked.';

/** The objects that the parts of an endpoint share. */
export class McpContext {
  readonly server: AuthorizationServer;
  /** Checks the tokens for this endpoint. */
  readonly api: ProtectedApi;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
  /** The endpoint's path, below the issuer. */
  readonly path: string;
  /** The server's name for assistants. */
  readonly name: string;
  /** The canonical resource (RFC 8707). */
  readonly resource: string;
  /** The path of the resource metadata (RFC 9728 section 3.1). */
  readonly metadataPath: string;
  readonly versions: OfferedVersions;
  readonly challenges: Challenges;
  /** All MCP endpoints of this server, and the objects that they share. */
  readonly siblings: Siblings;

  constructor({ server, config, tools, log, path = MCP_PATH }: McpServerOptions) {
    this.server = server;
    this.path = path;
    this.resource = `${server.issuer}${path}`;
    this.api = findApi(server, this.resource, path);
    this.siblings = siblingsAt(server);
    this.config = challengingAs(config, server, this.resource);
    this.tools = tools;
    this.log = withCurrentRequestId(log);
    this.name = config.name ?? server.config.name;
    this.metadataPath = `/.well-known/oauth-protected-resource${server.basePath}${path}`;
    this.versions = offeredVersions(config.protocol_versions);
    this.challenges = new Challenges(this, `${server.origin}${this.metadataPath}`);
  }

  /** Returns the full name of a route. For an additional endpoint, appends the endpoint's path. */
  routeName(name: string): string {
    return this.path === MCP_PATH ? name : `${name}${routeEnding(this.path)}`;
  }

  /** The `_meta` of each result in version 2026-07-28. */
  get meta(): Readonly<Record<string, unknown>> {
    return {
      'io.modelcontextprotocol/serverInfo': { name: this.name, version: this.config.version },
    };
  }

  /** The server's instructions, for clients of all protocol versions. */
  get instructions(): { readonly instructions?: string } {
    const { instructions = '' } = this.config;
    return instructions === '' ? {} : { instructions };
  }

  /**
   * Returns a 401 response if the request has no usable token, or else null. `requireUsable` logs
   * the reason.
   */
  tokenRefusal(): Response | null {
    try {
      token().requireUsable();
      return null;
    } catch (error) {
      if (!(error instanceof BearerError)) throw error;
      const says = this.config.oauth.challenge && error.code === 'invalid_token' ? ENDED : NEEDED;
      return refusal(401, says, this.challenges.ofResource(error.code, error.binding));
    }
  }

  /**
   * Calls `answer`. While `answer` runs, `token()` returns the request's token. Responds with 500
   * if `answer` fails.
   */
  async withToken(request: Request, answer: () => Promise<Response>): Promise<Response> {
    try {
      return await this.api.withToken(request, answer);
    } catch (exception) {
      this.log.error('The MCP endpoint failed: {exception}', {
        requestId: getRequestId(request),
        exception,
      });
      return refusal(500, 'The server failed to answer.');
    }
  }

  /** Logs an endpoint's error response as one line, in the authorization server's format. */
  logRefusal(route: string, request: Request, response: Response, clientId: string | null): void {
    const endpoint = this.routeName(route);
    const refused = getRefusal(response);
    // Status 499 means that the caller has disconnected and receives no response.
    if (refused === null || refused.status === 499) return;
    this.server.measuring?.refusedWith(endpoint, refused.status);
    this.log.info('{endpoint} refused: {error} ({detail})', {
      endpoint,
      requestId: getRequestId(request),
      error: refused.status,
      detail: refused.message,
      clientId,
      address: this.#clientAddress(request),
    });
  }

  /**
   * Returns the client's address for the log, or null if the host cannot return it. A failure of
   * the host must not replace the response.
   */
  #clientAddress(request: Request): string | null {
    try {
      return this.server.host.clientAddress(request);
    } catch {
      return null;
    }
  }
}

/**
 * Returns the API that checks the tokens for this resource. Throws a ConfigurationError if the
 * server does not have the resource.
 */
function findApi(server: AuthorizationServer, resource: string, path: string): ProtectedApi {
  const isKnown =
    server.audience === resource || server.resources.some((each) => each.resource === resource);
  if (isKnown) return server.resource(resource);
  // Throw. Otherwise, the endpoint would accept tokens for another API (RFC 8707 section 2).
  const problem =
    server.resources.length === 0 && path === MCP_PATH
      ? { key: 'oauth_server:audience', message: `must be the MCP resource: ${resource}` }
      : {
          key: 'oauth_server:resources',
          message: `does not contain ${resource}, the resource of the MCP endpoint ${path}; add it`,
        };
  throw new ConfigurationError([problem]);
}

/** Returns the settings of the endpoint. It sends challenges if its resource sets `challenge`. */
function challengingAs(
  config: McpConfig,
  { resources }: AuthorizationServer,
  resource: string,
): McpConfig {
  const challenges = resources.some((each) => each.resource === resource && each.challenge);
  return challenges ? { ...config, oauth: { ...config.oauth, challenge: true } } : config;
}
