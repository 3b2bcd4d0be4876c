import { defineFeature } from '../../feature.ts';
import { ED25519, ES256 } from './elliptic-curves.ts';

/** Adds elliptic curve algorithms for ID tokens. */
export const signingAlgorithms = defineFeature({
  name: 'signing_algorithms',
  signingAlgorithms: [ES256, ED25519],
});
