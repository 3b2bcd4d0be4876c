import type { MayRedirect } from '../clients/redirect-uris.ts';
import type { ProtectedResource } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { DroppedScopes } from '../tokens/dropped-scopes.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Issuing } from './issuing.ts';
import type { LostAnswers } from './lost-answers.ts';
import type { RefreshRules, SecondUses } from './second-uses.ts';

/** What the grants of a server share. */
export interface GrantParts {
  /** What the parts of the server share. */
  readonly server: Server;
  /** Makes tokens, after the checks of every feature. */
  readonly issuing: Issuing;
  /** Answers that the client may not have received. */
  readonly lostAnswers: LostAnswers;
  /** The API that tokens are for. */
  readonly resource: ProtectedResource;
  /** Whether a client may be answered at this URI. */
  readonly mayRedirect: MayRedirect;
  /** Decides what a second use of a refresh token gets; null where each is a replay. */
  readonly secondUses: ((rules: RefreshRules, binding: KeyBinding | null) => SecondUses) | null;
  /** Which scopes are dropped from requests. */
  readonly droppedScopes: DroppedScopes;
  /** Null where tokens are bound to nothing. */
  readonly binding: KeyBinding | null;
}
