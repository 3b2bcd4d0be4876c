import type { ClientLogos } from '../clients/logos.ts';
import type { ClientSource } from '../clients/client-source.ts';
import type { MayRedirect } from '../clients/redirect-uris.ts';
import type { DroppedScopes } from '../tokens/dropped-scopes.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { DirectRequests, IndirectRefusal } from './direct-requests.ts';
import type { ResponseModes } from './response-modes.ts';

/** What features add to authorization requests and to their answers. */
export interface AuthorizationAdditions {
  /** Null if an operator registers every client, or a client does itself. */
  readonly clientSource: ClientSource | null;
  /** Null if clients send no requests directly. */
  readonly directRequests: DirectRequests | null;
  readonly indirectRefusals: readonly IndirectRefusal[];
  /** Whether an answer to a client may go to a URI. */
  readonly mayRedirect: MayRedirect;
  /** How responses reach clients: `query`, and the modes of the features. */
  readonly responseModes: ResponseModes;
  /** Which scopes are dropped from requests. */
  readonly droppedScopes: DroppedScopes;
  /** Null if tokens are not bound to a key. */
  readonly binding: KeyBinding | null;
  /** Null if clients have no pictures. */
  readonly logos: ClientLogos | null;
  /** Where people see and revoke what they allowed; null without such a page. */
  readonly accessPath: string | null;
}
