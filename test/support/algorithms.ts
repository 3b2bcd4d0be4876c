import { collectAlgorithms } from '../../packages/portico/src/assembly/start-features.ts';
import { featuresWith } from '../../packages/portico/src/features.ts';

/** The algorithms with which a server can sign ID tokens. */
export const ALGORITHMS = collectAlgorithms(featuresWith());
