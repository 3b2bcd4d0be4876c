import { z } from 'zod';
import { coreShape, type McpConfig, type McpConfigInput } from './config.ts';
import { FEATURES } from './features.ts';

/** Validates the section `mcp` and fills in defaults. */
export type McpConfiguration = z.ZodType<McpConfig, McpConfigInput> & {
  /** The schema of each key. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
};

const ofFeatures: z.ZodRawShape = Object.assign({}, ...FEATURES.map(({ config }) => config));

/** The configuration section `mcp`, with the features' settings. */
export const mcpConfiguration: McpConfiguration = z.strictObject({ ...ofFeatures, ...coreShape });
