import { type AuthorizationServer, BearerError, token } from 'portico';
import { getRequestId, withCurrentRequestId } from 'portico/extension';
import type { Log } from '@portico/sql';
import { Challenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { refusal, getRefusal } from './refusal.ts';
import type { ToolRegistry } from './tools/tools.ts';
import { offeredVersions, type OfferedVersions } from './protocol/versions.ts';

/** The path of the endpoint, below the issuer. */
export const MCP_PATH = '/mcp';

/** Options of `createMcpServer`. */
export interface McpServerOptions {
  /** The authorization server whose tokens the endpoint accepts. */
  readonly server: AuthorizationServer;
  /** The section `mcp`, as `mcpConfiguration` validates it. */
  readonly config: McpConfig;
  /** The tools to serve, including those that are registered later. */
  readonly tools: ToolRegistry;
  /** The log, also for exceptions of tools. */
  readonly log: Log;
}

const NEEDED = 'A bearer token for this resource is needed.';
const ENDED = 'The bearer token is not valid here: unknown, expired or revoked.';

/** What each part of the endpoint works with. */
export class McpContext {
  readonly server: AuthorizationServer;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
  /** The server's name for assistants. */
  readonly name: string;
  /** The canonical resource (RFC 8707). */
  readonly resource: string;
  /** The path of its metadata (RFC 9728 section 3.1). */
  readonly metadataPath: string;
  readonly versions: OfferedVersions;
  readonly challenges: Challenges;

  constructor({ server, config, tools, log }: McpServerOptions) {
    this.server = server;
    this.config = config;
    this.tools = tools;
    this.log = withCurrentRequestId(log);
    this.name = config.name ?? server.config.name;
    this.resource = `${server.issuer}${MCP_PATH}`;
    this.metadataPath = `/.well-known/oauth-protected-resource${server.basePath}${MCP_PATH}`;
    this.versions = offeredVersions(config.protocol_versions);
    this.challenges = new Challenges(server, config, `${server.origin}${this.metadataPath}`);
  }

  /** The `_meta` of each result of 2026-07-28. */
  get meta(): Readonly<Record<string, unknown>> {
    return { 'io.modelcontextprotocol/serverInfo': { name: this.name, version: this.config.version } };
  }

  /** What the server tells clients of every version about itself. */
  get instructions(): { readonly instructions?: string } {
    const { instructions = '' } = this.config;
    return instructions === '' ? {} : { instructions };
  }

  /** 401 without a usable token, null with one. `requireUsable` logs the reason. */
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

  /** Answers with the current request's token; 500 when that fails. */
  async withToken(request: Request, answer: () => Promise<Response>): Promise<Response> {
    try {
      return await this.server.withToken(request, answer);
    } catch (exception) {
      this.log.error('The MCP endpoint failed: {exception}', { requestId: getRequestId(request), exception });
      return refusal(500, 'The server failed to answer.');
    }
  }

  /** Logs a refusal by an endpoint in one line, in the authorization server's format. */
  logRefusal(endpoint: string, request: Request, response: Response, clientId: string | null): void {
    const refused = getRefusal(response);
    // 499: the caller hung up and gets no response.
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

  /** A failure of the host here must not turn a refusal into an error. */
  #clientAddress(request: Request): string | null {
    try {
      return this.server.host.clientAddress(request);
    } catch {
      return null;
    }
  }
}
