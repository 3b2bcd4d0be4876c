import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Log } from '../contracts/log.ts';
import type { McpConfig } from './config.ts';
import { callRefusal } from './tool-access.ts';
import { callTool } from './tool-call.ts';
import type { ToolRegistry } from './tools.ts';

/** The supported protocol versions, the preferred one first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-03-26'] as const;

export interface ProtocolOptions {
  /** What the server calls itself. */
  readonly name: string;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
}

/**
 * The supported versions for a client that asks for `requested`, the one to offer first: the SDK answers a version that is not
 * supported with the first (MCP, Version Negotiation). That is the newest that is not newer than the requested one, as clients
 * often support versions before their own and never later ones. Without such a version it is the latest, as MCP requires.
 * Versions are dates, which compare as text.
 */
function versionsToOffer(requested: string | null): string[] {
  const known = PROTOCOL_VERSIONS.filter((version) => requested === null || version <= requested);
  return [...new Set([...known, ...PROTOCOL_VERSIONS])];
}

/** The protocol's server, for the messages of one request; the version is the one that an `initialize` among them asks for. */
export function createProtocolServer(options: ProtocolOptions, requestedVersion: string | null): Server {
  const { name, config, tools, log } = options;
  const { version, instructions, tool_timeout: timeout } = config;
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: {} },
      supportedProtocolVersions: versionsToOffer(requestedVersion),
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: tools.all().map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { type: 'object' as const, ...inputSchema },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, sdk) => {
    const tool = tools.find(params.name);
    if (tool === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No tool has this name.');
    // The endpoint has checked this before; no tool runs unless it is checked where the tool is called, too.
    const refused = callRefusal(config, tool);
    if (refused !== null) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, refused.message);
    return callTool(tool, params.arguments ?? {}, sdk, { timeout, log });
  });
  return server;
}
