import { z } from 'zod';
import { KNOWN_VERSIONS, type ProtocolVersion } from './protocol/versions.ts';

/** A day, in seconds. */
const LONGEST_TOOL = 86_400;

const MOST_MESSAGES = 1_000_000;

/** The keys of the section `mcp` that no feature adds. */
export const coreShape = {
  /** The server's name for assistants; the authorization server's name unless given. */
  name: z.string({ error: 'must be the display name of the MCP server' }).min(1, 'is empty').optional(),
  version: z.string({ error: 'must be the version of your tools' }).min(1, 'is empty').default('1.0.0'),
  instructions: z.string({ error: 'must be a text for the model' }).optional(),
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
    .min(1, 'must name at least one version')
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
        .array(z.string({ error: 'must be a scope name' }), { error: 'must be a list of scope names' })
        .min(1, 'must name at least one scope')
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

/** The validated section `mcp`. Features add their keys. */
export interface McpConfig extends z.output<typeof core> {}

/**
 * What an application writes in its section `mcp`. Values that are left out or undefined get their
 * defaults.
 */
export interface McpConfigInput {
  /** The server's name for assistants; `oauth_server:name`. */
  readonly name?: string | undefined;
  /** The version of the tools; `1.0.0`. */
  readonly version?: string | undefined;
  /** Instructions for the model. */
  readonly instructions?: string | undefined;
  /** The canonical resource: `public_url` plus `/mcp`, and the same as `oauth_server:audience`. */
  readonly resource?: string | undefined;
  /**
   * The MCP versions that the server accepts, out of `2026-07-28`, `2025-11-25`, `2025-06-18` and
   * `2025-03-26`; `['2025-11-25', '2025-03-26']`.
   */
  readonly protocol_versions?: readonly ProtocolVersion[] | undefined;
  /** How answers are sent. */
  readonly transport?: McpTransportInput | undefined;
  /** How long a tool may take, in seconds; 120. */
  readonly tool_timeout?: number | undefined;
  /**
   * Whether each tool call is an audit event, `tool_called`, and each reading of a resource,
   * `resource_read`; false.
   */
  readonly audit?: boolean | undefined;
  /** How many messages one client may send for one person per minute, to each process; no limit. */
  readonly calls_per_minute?: number | undefined;
  /** The resource's metadata (RFC 9728), and how it admits clients. */
  readonly oauth?: McpOAuthInput | undefined;
  /** Origins whose pages may call tools; none. */
  readonly allowed_origins?: readonly string[] | undefined;
}

/** The section `mcp:transport`. */
export interface McpTransportInput {
  /**
   * Whether a POST is answered with Server-Sent Events, for progress and results, instead of JSON;
   * false.
   */
  readonly streaming?: boolean | undefined;
}

/** The section `mcp:oauth`. */
export interface McpOAuthInput {
  /** The scopes in the resource metadata; `['mcp:tools']`. */
  readonly scopes_supported?: readonly string[] | undefined;
  /**
   * Whether 401 (also of GET and HEAD) and 403 name the metadata and the needed scope in
   * `WWW-Authenticate`. A client that then asks for more scopes keeps those that its person allowed
   * before; false.
   */
  readonly challenge?: boolean | undefined;
  /**
   * Whether a service, a client registered for `mcp:service`, gets that scope when it asks for
   * offered scopes that it is not registered for, such as those of the metadata. Otherwise it gets
   * `invalid_scope`; false.
   */
  readonly narrow_service_scope?: boolean | undefined;
}
