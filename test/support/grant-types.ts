import { GrantTypes } from '../../packages/portico/src/store/grant-types.ts';
import { GRANT_TYPES as OF_THE_CORE } from '../../packages/portico/src/grants/grant-types.ts';

/** The grant types of a server whose features add none. */
export const GRANT_TYPES = new GrantTypes(OF_THE_CORE);
