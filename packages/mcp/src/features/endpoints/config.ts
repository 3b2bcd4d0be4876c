import { z } from 'zod';

/**
 * Matches a path without a slash at the end and without percent-encoding. No segment begins with a
 * dot.
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

/** The setting that this feature adds to `mcp`. */
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
 * The settings of an additional MCP endpoint. The endpoint takes all other settings from the
 * section `mcp`.
 */
export interface McpEndpointInput {
  /** The endpoint's name for assistants. Default: `mcp:name`. */
  readonly name?: string | undefined;
  /** Instructions for the model. Default: `mcp:instructions`. */
  readonly instructions?: string | undefined;
  /**
   * The scopes in the endpoint's metadata and challenges. Default: `mcp:oauth:scopes_supported`.
   */
  readonly scopes_supported?: readonly string[] | undefined;
}

export interface EndpointsConfig {
  /**
   * Additional MCP endpoints. The keys are paths below `base_path`. Each endpoint has its own
   * tools, and its own resource in `oauth_server:resources`. If the resource's `challenge` is on,
   * the endpoint sends challenges. By default, there are no additional endpoints.
   */
  readonly endpoints?: Readonly<Record<string, McpEndpointInput>> | undefined;
}

declare module '../../config.ts' {
  interface McpConfig extends EndpointsConfig {}
  interface McpConfigInput extends EndpointsConfig {}
}
