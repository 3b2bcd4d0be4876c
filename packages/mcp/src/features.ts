import type { McpFeature } from './feature.ts';
import { endpoints } from './features/endpoints/index.ts';
import { organizationAccess } from './features/organization-access/index.ts';
import { resources } from './features/resources/index.ts';
import { securitySchemes } from './features/security-schemes/index.ts';

/** All features of an endpoint, in the order in which they start. Tools are not a feature. */
export const FEATURES: readonly McpFeature[] = [
  endpoints,
  organizationAccess,
  resources,
  securitySchemes,
];
