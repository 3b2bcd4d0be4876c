import type { ExpiringRows } from '../store/pruning.ts';
import type { FurtherMetadata } from './further-metadata.ts';

declare module '../store/pruning.ts' {
  interface PrunedRows {
    /**
     * The number of removed clients whose further metadata were removed as well. Missing if no
     * feature adds client metadata.
     */
    readonly clientMetadata?: number;
  }
}

/** How many rows to remove at once. */
const BATCH = 100;

/** Returns the metadata of clients that have been removed. */
export function leftMetadata(metadata: FurtherMetadata): ExpiringRows {
  return {
    kind: 'clientMetadata',
    called: 'client metadata',
    which: 'belong to no client',
    batch: BATCH,
    remove: (limit) => metadata.removeLeft(limit),
  };
}
