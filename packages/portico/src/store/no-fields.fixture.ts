import type { Database } from '@portico/sql';
import { FurtherMetadata } from './further-metadata.ts';

/** For a server whose features add no fields. It never uses its database. */
export const NO_FIELDS = new FurtherMetadata({} as Database, [], { anyPort: false });
