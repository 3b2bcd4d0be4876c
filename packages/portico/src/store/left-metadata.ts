import type { ExpiringRows } from './pruning.ts';
import type { FurtherMetadata } from './further-metadata.ts';

declare module './pruning.ts' {
  interface PrunedRows {
    /**
     * The number of removed clients whose metadata was now removed too. Missing if no feature adds
     * client metadata.
     */
    readonly clientMetadata?: number;
  }
}

const BATCH = 100;

/** Prunes the metadata of clients that no longer exist. */
export function leftMetadata(metadata: FurtherMetadata): ExpiringRows {
  return {
    kind: 'clientMetadata',
    called: 'client metadata',
    which: 'belong to no client',
    batch: BATCH,
    remove: (limit, after) => metadata.removeLeft(limit, after),
  };
}
