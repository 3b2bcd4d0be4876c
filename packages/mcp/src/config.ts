import { z } from 'zod';
import { KNOWN_VERSIONS, type ProtocolVersion } from './protocol/versions.ts';

/** The maximum value of `mcp:tool_timeout`, in seconds (one day). */
const LONGEST_TOOL = 86_400;

const MOST_MESSAGES = 1_000_000;

/** The settings in the section `mcp`, without those that features add. */
export const coreShape = {
  /** The server name that MCP clients show. Default: the authorization server's name. */
  name: z
    .string({ error: 'must be a string with the server name that clients show' })
    .min(1, 'is empty')
    .optional(),
  version: z
    .string({ error: 'must be a string with the version of your tools' })
    .min(1, 'is empty')
    .default('1.0.0'),
  instructions: z.string({ error: 'must be a string with instructions for the model' }).optional(),
  resource: z
    .string({
      error: (issue) =>
        issue.input === undefined
          ? 'is missing; set it to public_url plus /mcp'
          : 'must be public_url plus /mcp',
    })
    .optional(),
  protocol_versions: z
    .array(z.enum(KNOWN_VERSIONS, { error: `must be one of ${KNOWN_VERSIONS.join(', ')}` }), {
      error: 'must be a list of protocol versions',
    })
    .min(1, 'must contain at least one version')
    .default(['2025-11-25', '2025-03-26']),
  transport: z
    .strictObject({ streaming: z.boolean({ error: 'must be true or false' }).default(false) })
    .prefault({}),
  tool_timeout: z
    .int({ error: 'must be a whole number of seconds' })
    .min(1, 'must be at least 1 second')
    .max(LONGEST_TOOL, `must be at most ${LONGEST_TOOL} seconds`)
    .default(120),
  audit: z.boolean({ error: 'must be true or false' }).default(false),
  calls_per_minute: z
    .int({ error: 'must be a whole number of messages' })
    .min(1, 'must be at least 1 message')
    .max(MOST_MESSAGES, `must be at most ${MOST_MESSAGES} messages`)
    .optional(),
  oauth: z
    .strictObject({
      scopes_supported: z
        .array(z.string({ error: 'must be a scope name' }), {
          error: 'must be a list of scope names',
        })
        .min(1, 'must contain at least one scope')
        .default(['mcp:tools']),
      challenge: z.boolean({ error: 'must be true or false' }).default(false),
      narrow_service_scope: z.boolean({ error: 'must be true or false' }).default(false),
    })
    .prefault({}),
  allowed_origins: z
    .array(
      z
        .string({ error: 'must be an origin' })
        .refine(isOrigin, 'must be an origin such as https://app.example'),
      { error: 'must be a list of origins' },
    )
    .default([]),
};

const core = z.strictObject(coreShape);

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

/** The validated section `mcp`, with the settings that features add. */
export interface McpConfig extends z.output<typeof core> {}

/**
 * The settings in an application's section `mcp`. A missing or undefined setting gets its default
 * value.
 */
export interface McpConfigInput {
  /** The server name that MCP clients show. Default: `oauth_server:name`. */
  readonly name?: string | undefined;
  /** The version of your tools. Default: `1.0.0`. */
  readonly version?: string | undefined;
  /** Instructions for the model that uses the tools. */
  readonly instructions?: string | undefined;
  /**
   * The canonical resource of the endpoint. It must be `public_url` plus `base_path` plus `/mcp`,
   * which the endpoint also uses if you omit this setting. This URL must be
   * `oauth_server:audience`, or one of `oauth_server:resources`.
   */
  readonly resource?: string | undefined;
  /**
   * The MCP versions that the server accepts: any of `2026-07-28`, `2025-11-25`, `2025-06-18` and
   * `2025-03-26`. Default: `['2025-11-25', '2025-03-26']`.
   */
  readonly protocol_versions?: readonly ProtocolVersion[] | undefined;
  /** How the server sends responses. */
  readonly transport?: McpTransportInput | undefined;
  /** How long a tool call or the reading of a resource may take, in seconds. Default: 120. */
  readonly tool_timeout?: number | undefined;
  /**
   * Whether to emit the audit event `tool_called` for each tool call, and `resource_read` each time
   * a resource is read. Default: false.
   */
  readonly audit?: boolean | undefined;
  /**
   * The maximum number of messages that one client can send per minute for one user. It applies to
   * all MCP endpoints of a process together. Each process has a separate count. Default: no limit.
   */
  readonly calls_per_minute?: number | undefined;
  /** The settings for resource metadata (RFC 9728), challenges and services. */
  readonly oauth?: McpOAuthInput | undefined;
  /**
   * The origins whose web pages may call tools, in addition to the server's own origin. Default:
   * none.
   */
  readonly allowed_origins?: readonly string[] | undefined;
}

/** The settings in the section `mcp:transport`. */
export interface McpTransportInput {
  /**
   * Whether to respond to a POST with a stream of Server-Sent Events, which contains progress and
   * results. If false, the server responds with JSON. Default: false.
   */
  readonly streaming?: boolean | undefined;
}

/** The settings in the section `mcp:oauth`. */
export interface McpOAuthInput {
  /**
   * The scopes for this endpoint, which the resource metadata lists. A token needs one of them, or
   * `mcp:service`. A personal tool or resource that has no `scope()` needs the first one. Default:
   * `['mcp:tools']`.
   */
  readonly scopes_supported?: readonly string[] | undefined;
  /**
   * Whether 401 and 403 responses have a `WWW-Authenticate` header with the metadata URL and the
   * needed scopes. This includes 401 responses to GET and HEAD. A client that then requests more
   * scopes also keeps those that the user has already allowed. Default: false.
   */
  readonly challenge?: boolean | undefined;
  /**
   * What happens if a service requests a scope that the server offers, but that the service is not
   * registered for. If true, the service gets `mcp:service` instead. If false, it gets the error
   * `invalid_scope`. A service is a client that is registered for `mcp:service`. Default: false.
   */
  readonly narrow_service_scope?: boolean | undefined;
}
