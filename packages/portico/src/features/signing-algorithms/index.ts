import { defineFeature } from '../../feature.ts';
import { ED25519, ES256 } from './elliptic-curves.ts';

/** ID tokens that are signed on elliptic curves, besides those with RSA. */
export const signingAlgorithms = defineFeature({
  name: 'signing_algorithms',
  signingAlgorithms: [ES256, ED25519],
});
