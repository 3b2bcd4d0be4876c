import { z } from 'zod';

/**
 * Matches a path whose segments do not begin with a dot. The path has no trailing slash and no
 * percent-encoding.
 */
const PATH = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/;

const endpoint = z.strictObject(
  {
    name: z
      .string({ error: 'must be a string with the endpoint name that clients show' })
      .min(1, 'is empty')
      .optional(),
    instructions: z
      .string({ error: 'must be a string with instructions for the model' })
      .optional(),
    scopes_supported: z
      .array(z.string({ error: 'must be a scope name' }), {
        error: 'must be a list of scope names',
      })
      .min(1, 'must contain at least one scope')
      .optional(),
  },
  { error: 'must be an object { name, instructions, scopes_supported }' },
);

/** The setting that this feature adds to the section `mcp`. */
export const endpointsShape = {
  endpoints: z
    .record(
      z
        .string()
        .regex(PATH, 'must be a path such as /assistants/mcp')
        .refine(
          (path) => path !== '/mcp',
          'is the built-in endpoint; configure it in the section mcp',
        ),
      endpoint,
      { error: "must be an object with paths as keys, for example { '/assistants/mcp': {} }" },
    )
    .optional(),
};

/**
 * The settings of an additional MCP endpoint. All other settings are the same as in the section
 * `mcp`, except `mcp:oauth:challenge` and `mcp:resource`.
 */
export interface McpEndpointInput {
  /** The name of the endpoint that MCP clients show. Default: `mcp:name`. */
  readonly name?: string | undefined;
  /** Instructions for the model that uses the endpoint. Default: `mcp:instructions`. */
  readonly instructions?: string | undefined;
  /**
   * The scopes for this endpoint, with the same meaning as `mcp:oauth:scopes_supported`. Default:
   * `mcp:oauth:scopes_supported`.
   */
  readonly scopes_supported?: readonly string[] | undefined;
}

export interface EndpointsConfig {
  /**
   * Additional MCP endpoints, keyed by their paths below `base_path`. Each endpoint has separate
   * tools and a separate resource in `oauth_server:resources`. The endpoint sends challenges if its
   * resource has `challenge: true`. Default: none.
   */
  readonly endpoints?: Readonly<Record<string, McpEndpointInput>> | undefined;
}

declare module '../../config.ts' {
  interface McpConfig extends EndpointsConfig {}
  interface McpConfigInput extends EndpointsConfig {}
}
