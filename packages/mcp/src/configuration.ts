import { z } from 'zod';
import { coreShape, type McpConfig, type McpConfigInput } from './config.ts';
import { FEATURES } from './features.ts';

/** The type of a schema that validates the section `mcp` and fills in default values. */
export type McpConfiguration = z.ZodType<McpConfig, McpConfigInput> & {
  /** The schemas of the settings, by key. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
};

const ofFeatures: z.ZodRawShape = Object.assign({}, ...FEATURES.map(({ config }) => config));

/**
 * The schema of the section `mcp`, including the settings of all features. It fills in default
 * values. `parse` throws zod's error.
 *
 * @example
 * const config = mcpConfiguration.parse({ tool_timeout: 30 });
 */
export const mcpConfiguration: McpConfiguration = z.strictObject({ ...ofFeatures, ...coreShape });
