import { collectAlgorithms } from '../../packages/portico/src/assembly/start-features.ts';
import { featuresWith } from '../../packages/portico/src/features.ts';

/** What a server can sign ID tokens with. */
export const ALGORITHMS = collectAlgorithms(featuresWith());
