import { type AuthorizationServer, BearerError, token } from 'portico';
import { requestIdOf, withCurrentRequestId } from 'portico/extension';
import type { Log } from '@portico/sql';
import { Challenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { refusal, refusalMessage } from './refusal.ts';
import type { ToolRegistry } from './tools/tools.ts';
import { offeredVersions, type OfferedVersions } from './protocol/versions.ts';

/** Where the endpoint is, below the issuer. */
export const MCP_PATH = '/mcp';

/** What an endpoint is made of. */
export interface McpServerOptions {
  /** The authorization server whose tokens it takes. */
  readonly server: AuthorizationServer;
  /** The section `mcp`, as `mcpConfiguration` validates it. */
  readonly config: McpConfig;
  /** What it serves; tools that are registered later are served too. */
  readonly tools: ToolRegistry;
  /** Takes what tools throw. */
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
  /** What the server calls itself to assistants. */
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

  /** What the server says of itself to clients of every version. */
  get instructions(): { readonly instructions?: string } {
    const { instructions = '' } = this.config;
    return instructions === '' ? {} : { instructions };
  }

  /** 401 without a usable token; null with one. `requireUsable` writes the reason to the log. */
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

  /** Answers with the token of the request at hand; 500 when that fails. */
  async withToken(request: Request, answer: () => Promise<Response>): Promise<Response> {
    try {
      return await this.server.withToken(request, answer);
    } catch (exception) {
      this.log.error('The MCP endpoint failed: {exception}', { requestId: requestIdOf(request), exception });
      return refusal(500, 'The server failed to answer.');
    }
  }

  /** One line in the log for a refusal by an endpoint, in the form that the authorization server uses. */
  logRefusal(endpoint: string, request: Request, response: Response, clientId: string | null): void {
    const detail = refusalMessage(response);
    // 499: the caller hung up and gets no answer.
    if (detail === null || response.status === 499) return;
    this.server.measuring?.refusedWith(endpoint, response.status);
    this.log.info('{endpoint} refused: {error} ({detail})', {
      endpoint,
      requestId: requestIdOf(request),
      error: response.status,
      detail,
      clientId,
      address: this.#clientAddress(request),
    });
  }

  /** A host that fails here must not turn a refusal into an error. */
  #clientAddress(request: Request): string | null {
    try {
      return this.server.host.clientAddress(request);
    } catch {
      return null;
    }
  }
}
