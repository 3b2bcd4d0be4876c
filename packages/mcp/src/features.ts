import type { McpFeature } from './feature.ts';
import { endpoints } from './features/endpoints/index.ts';
import { organizationAccess } from './features/organization-access/index.ts';
import { resources } from './features/resources/index.ts';
import { securitySchemes } from './features/security-schemes/index.ts';

/**
 * The features of every endpoint, in the order in which they start. They add everything except
 * tools.
 */
export const FEATURES: readonly McpFeature[] = [
  endpoints,
  organizationAccess,
  resources,
  securitySchemes,
];
