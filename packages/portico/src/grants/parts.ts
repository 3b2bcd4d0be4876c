import type { MayRedirect } from '../clients/redirect-uris.ts';
import type { ProtectedResource } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Issuing } from './issuing.ts';
import type { LostAnswers } from './lost-answers.ts';
import type { RefreshRules, SecondUses } from './second-uses.ts';

/** What the grants of a server share. */
export interface GrantParts {
  readonly server: Server;
  readonly issuing: Issuing;
  readonly lostAnswers: LostAnswers;
  readonly resource: ProtectedResource;
  /** Whether a client may be answered at this URI. */
  readonly mayRedirect: MayRedirect;
  /** Decides what a second use of a refresh token gets; null where each is a replay. */
  readonly secondUses: ((rules: RefreshRules, binding: KeyBinding | null) => SecondUses) | null;
  /** Null where tokens are bound to nothing. */
  readonly binding: KeyBinding | null;
}
