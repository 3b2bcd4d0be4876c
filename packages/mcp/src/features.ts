import type { McpFeature } from './feature.ts';
import { resources } from './features/resources/index.ts';
import { securitySchemes } from './features/security-schemes/index.ts';

/** What each endpoint can do beside its tools, in the order in which it starts. */
export const FEATURES: readonly McpFeature[] = [resources, securitySchemes];
