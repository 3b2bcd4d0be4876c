import { type AuthorizationServer, BearerError, type ProtectedApi, token } from 'portico';
import { getRequestId, withCurrentRequestId } from 'portico/extension';
import { ConfigurationError, isUnavailable, type Log } from '@portico/sql';
import { Challenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { refusal, getRefusal } from './refusal.ts';
import { routeEnding, siblingsAt, type Siblings } from './siblings.ts';
import type { ToolRegistry } from './tools/tools.ts';
import { offeredVersions, type OfferedVersions } from './protocol/versions.ts';

/** The path of an application's main MCP endpoint, below the issuer. */
export const MCP_PATH = '/mcp';

/** The options of `createMcpServer`. */
export interface McpServerOptions {
  /** The authorization server whose tokens the endpoint accepts. */
  readonly server: AuthorizationServer;
  /** The section `mcp`, as validated by `mcpConfiguration`. */
  readonly config: McpConfig;
  /** The tools that the endpoint serves. You can add more tools later. */
  readonly tools: ToolRegistry;
  /** The log of the endpoint. It also contains the exceptions that tools throw. */
  readonly log: Log;
  /**
   * The path of the endpoint, below the issuer. The endpoint's resource must be one of
   * `oauth_server:resources`, or the same as `oauth_server:audience`. Default: `/mcp`.
   */
  readonly path?: string;
}

const NEEDED = 'A bearer token for this resource is needed.';
const ENDED = 'The bearer token is not valid here: unknown, expired or revoked.';

/** The objects and settings that all parts of an endpoint use. */
export class McpContext {
  readonly server: AuthorizationServer;
  /** Checks the tokens for this endpoint. */
  readonly api: ProtectedApi;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
  /** The endpoint's path, below the issuer. */
  readonly path: string;
  /** The server name that MCP clients show. */
  readonly name: string;
  /** The canonical resource (RFC 8707). */
  readonly resource: string;
  /** The path of the resource metadata (RFC 9728 section 3.1). */
  readonly metadataPath: string;
  readonly versions: OfferedVersions;
  readonly challenges: Challenges;
  /** The MCP endpoints of this authorization server, and the objects that they share. */
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

  /**
   * Returns the full name of a route. For an additional endpoint, the name ends with the endpoint's
   * path, in which `_` replaces `/` and punctuation.
   */
  routeName(name: string): string {
    return this.path === MCP_PATH ? name : `${name}${routeEnding(this.path)}`;
  }

  /** The `_meta` for each result in version 2026-07-28. */
  get meta(): Readonly<Record<string, unknown>> {
    return {
      'io.modelcontextprotocol/serverInfo': { name: this.name, version: this.config.version },
    };
  }

  /** The instructions for the model. They are the same in all protocol versions. */
  get instructions(): { readonly instructions?: string } {
    const { instructions = '' } = this.config;
    return instructions === '' ? {} : { instructions };
  }

  /**
   * Returns a 401 response if the request has no valid token for this endpoint. Otherwise, returns
   * null. `requireUsable` logs the reason.
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
   * Calls `answer`, during which `token()` returns the token of the request. If `answer` fails,
   * responds with 503 if the database cannot be reached, and otherwise with 500.
   */
  async withToken(request: Request, answer: () => Promise<Response>): Promise<Response> {
    try {
      return await this.api.withToken(request, answer);
    } catch (exception) {
      this.log.error('The MCP endpoint failed: {exception}', {
        requestId: getRequestId(request),
        exception,
      });
      return isUnavailable(exception)
        ? refusal(503, 'The server cannot answer now; try again.', { 'Retry-After': '2' })
        : refusal(500, 'The server failed to answer.');
    }
  }

  /** Logs an error response as one line, in the same format as the authorization server. */
  logRefusal(route: string, request: Request, response: Response, clientId: string | null): void {
    const endpoint = this.routeName(route);
    const refused = getRefusal(response);
    // Do not log status 499, because the caller has disconnected and receives no response.
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
   * Returns the client's address for the log, or null if the host fails to return it. Such a
   * failure must not prevent the response.
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
 * Returns the API that checks tokens for this resource. Throws a ConfigurationError if the resource
 * is not configured.
 */
function findApi(server: AuthorizationServer, resource: string, path: string): ProtectedApi {
  const isKnown =
    server.audience === resource || server.resources.some((each) => each.resource === resource);
  if (isKnown) return server.resource(resource);
  // Throw an error. Otherwise, the endpoint would accept tokens for another API (RFC 8707 section
  // 2).
  const problem =
    server.resources.length === 0 && path === MCP_PATH
      ? { key: 'oauth_server:audience', message: `must be the MCP resource: ${resource}` }
      : {
          key: 'oauth_server:resources',
          message: `does not contain ${resource}, the resource of the MCP endpoint ${path}; add it`,
        };
  throw new ConfigurationError([problem]);
}

/**
 * Returns the endpoint's settings. Turns on `challenge` if the endpoint's resource has this
 * setting.
 */
function challengingAs(
  config: McpConfig,
  { resources }: AuthorizationServer,
  resource: string,
): McpConfig {
  const challenges = resources.some((each) => each.resource === resource && each.challenge);
  return challenges ? { ...config, oauth: { ...config.oauth, challenge: true } } : config;
}
