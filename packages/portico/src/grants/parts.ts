import type { MayRedirect } from '../clients/redirect-uris.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { DroppedScopes } from '../tokens/dropped-scopes.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Issuing } from './issuing.ts';
import type { LostAnswers } from './lost-answers.ts';
import type { RefreshRules, SecondUses } from './repeated-answers.ts';

/** The objects that all grants of a server share. */
export interface GrantParts {
  /** The objects that the whole server shares. */
  readonly server: Server;
  /** Creates tokens. Features can check the tokens and reject the request. */
  readonly issuing: Issuing;
  /** Stores responses that the client may not have received. */
  readonly lostAnswers: LostAnswers;
  /** The APIs for which the server issues tokens. */
  readonly resources: ProtectedResources;
  /** Decides whether a response may go to this redirect URI of the client. */
  readonly mayRedirect: MayRedirect;
  /**
   * Decides how to respond to a second use of a refresh token. Null if every second use is a
   * replay.
   */
  readonly secondUses: ((rules: RefreshRules, binding: KeyBinding | null) => SecondUses) | null;
  /** Decides which requested scopes the server drops. */
  readonly droppedScopes: DroppedScopes;
  /** Binds tokens to keys. Null if the server does not bind tokens. */
  readonly binding: KeyBinding | null;
}
