import { z } from 'zod';
import { coreShape, type McpConfig, type McpConfigInput } from './config.ts';
import { FEATURES } from './features.ts';

/** The schema of the section `mcp`. It validates the section and fills in defaults. */
export type McpConfiguration = z.ZodType<McpConfig, McpConfigInput> & {
  /** The schema of each setting, by its key. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
};

const ofFeatures: z.ZodRawShape = Object.assign({}, ...FEATURES.map(({ config }) => config));

/** The schema of the section `mcp`, including the settings of all features. */
export const mcpConfiguration: McpConfiguration = z.strictObject({ ...ofFeatures, ...coreShape });
