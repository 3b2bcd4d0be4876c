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
  /** Creates tokens. Features can check the tokens first and refuse them. */
  readonly issuing: Issuing;
  /** Stores responses that the client may not have received. */
  readonly lostAnswers: LostAnswers;
  /** The APIs that tokens are for. */
  readonly resources: ProtectedResources;
  /** Decides whether a response may be sent to a redirect URI of the client. */
  readonly mayRedirect: MayRedirect;
  /**
   * Decides how the server responds to a second use of a refresh token. Null if every second use is
   * a replay.
   */
  readonly secondUses: ((rules: RefreshRules, binding: KeyBinding | null) => SecondUses) | null;
  /** Decides which scopes are dropped from requests. */
  readonly droppedScopes: DroppedScopes;
  /** Binds tokens to keys. Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
}
