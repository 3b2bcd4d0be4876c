import type { McpFeature } from './feature.ts';
import { resources } from './features/resources/index.ts';

/** What each endpoint can do beside its tools, in the order in which it starts. */
export const FEATURES: readonly McpFeature[] = [resources];
