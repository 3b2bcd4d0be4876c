import { z } from 'zod';

/** The setting that this feature adds to the section `mcp`. */
export const securitySchemesShape = {
  security_schemes: z.boolean({ error: 'must be true or false' }).default(false),
};

export interface SecuritySchemesConfig {
  /**
   * Whether to support account linking in ChatGPT, on endpoints that send challenges. If true,
   * `tools/list` contains `securitySchemes` for each tool. If the token does not allow a call, the
   * caller gets a tool error with the challenge, instead of a 401 or 403 response. Default: false.
   */
  readonly security_schemes?: boolean | undefined;
}

declare module '../../config.ts' {
  interface McpConfig extends SecuritySchemesConfig {}
  interface McpConfigInput extends SecuritySchemesConfig {}
}
