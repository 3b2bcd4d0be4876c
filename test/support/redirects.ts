import { mayRedirectWith } from '../../packages/portico/src/clients/redirect-uris.ts';
import { isOnAnotherPort } from '../../packages/portico/src/features/native-loopback/matching.ts';

/** Whether a server with all features sends responses for this client to this address. */
export const mayRedirect = mayRedirectWith([isOnAnotherPort]);
