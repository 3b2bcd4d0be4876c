import type { ClientAuthentication } from '../clients/authentication.ts';
import type { LastUse } from '../clients/last-use.ts';
import { TokenEndpoint } from '../endpoints/token.ts';
import { grantsOf } from '../grants/grant-types.ts';
import { Issuing } from '../grants/issuing.ts';
import { LostAnswers } from '../grants/lost-answers.ts';
import type { ProtectedResource } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { Claims } from '../tokens/claims.ts';
import type { Contributions } from './start-features.ts';

/** What the token endpoint needs besides the shared parts. */
export interface TokenNeeds {
  readonly contributions: Contributions;
  readonly resource: ProtectedResource;
  readonly claims: Claims;
  readonly authentication: ClientAuthentication;
  readonly lastUse: LastUse;
}

/** Assembles the token endpoint: the grants, and what they issue. */
export function assembleTokenEndpoint(server: Server, needs: TokenNeeds): TokenEndpoint {
  const { contributions, resource, claims, authentication, lastUse } = needs;
  const { binding, issuanceChecks, secondUses, mayRedirect, droppedScopes } = contributions;
  const issuing = new Issuing(server, claims, issuanceChecks, binding);
  const lostAnswers = new LostAnswers(server.clock);
  const parts = { server, issuing, lostAnswers, resource, secondUses, mayRedirect, droppedScopes, binding };
  return new TokenEndpoint(grantsOf(contributions.grants, parts), parts, authentication, lastUse);
}
