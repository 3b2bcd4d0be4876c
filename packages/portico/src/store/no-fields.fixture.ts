import type { Database } from '@portico/sql';
import { FurtherMetadata } from './further-metadata.ts';

/** The metadata of a server without additional fields. It never uses its database. */
export const NO_FIELDS = new FurtherMetadata({} as Database, [], { anyPort: false });
