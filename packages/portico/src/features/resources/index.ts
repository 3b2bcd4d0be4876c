import { defineFeature } from '../../feature.ts';
import { resourcesShape } from './config.ts';
import { describeResources, resourceProblems } from './resources.ts';

/**
 * Supports several APIs with separate tokens, scopes and metadata (RFC 8707, RFC 9728). A client
 * chooses one with the parameter `resource`.
 */
export const resources = defineFeature({
  name: 'resources',
  config: resourcesShape,
  problems: resourceProblems,
  resources: ({ resources: configured = {} }, publicUrl) =>
    describeResources(configured, publicUrl),
  start: (_, { resources: configured }) =>
    configured === undefined || Object.keys(configured).length === 0
      ? {}
      : { metadata: { protected_resources: Object.keys(configured) } },
});
