import { defineFeature } from '../../feature.ts';
import { challengesShape } from './config.ts';
import { getMetadataUrl } from '../../tokens/resource-indicators.ts';
import { challengeProblems } from './resource-metadata.ts';

/**
 * Tells clients how to get a token when an API refuses a request (RFC 9728 section 5.1). Clients
 * can then also request more scopes.
 */
export const challenges = defineFeature({
  name: 'challenges',
  config: challengesShape,
  problems: challengeProblems,
  start(_, { challenge: isOn = false, audience }) {
    return isOn ? { resource: { metadataUrl: getMetadataUrl(audience), stepUp: true } } : {};
  },
});
