import { z } from 'zod';

/** The key of `mcp` that this feature adds. */
export const securitySchemesShape = {
  security_schemes: z.boolean({ error: 'must be true or false' }).default(false),
};

export interface SecuritySchemesConfig {
  /**
   * Whether `tools/list` has the `securitySchemes` of each tool, and a call that the token does not
   * allow is answered by a tool error with the challenge instead of 401 or 403, as ChatGPT wants;
   * false.
   */
  readonly security_schemes?: boolean | undefined;
}

declare module '../../config.ts' {
  interface McpConfig extends SecuritySchemesConfig {}
  interface McpConfigInput extends SecuritySchemesConfig {}
}
