import { defineFeature } from '../../feature.ts';
import { challengesShape } from './config.ts';
import { challengeProblems, getMetadataUrl } from './resource-metadata.ts';

/**
 * Refusals that say how to get a token (RFC 9728 section 5.1), so that clients can ask for more.
 */
export const challenges = defineFeature({
  name: 'challenges',
  config: challengesShape,
  problems: challengeProblems,
  start(_, { challenge: isOn = false, audience }) {
    return isOn ? { resource: { metadataUrl: getMetadataUrl(audience), stepUp: true } } : {};
  },
});
