import type { AuthenticateClient } from '../clients/authentication.ts';
import type { RecordUse } from '../clients/last-use.ts';
import type { Handler } from '../endpoints/endpoint.ts';
import type { Contributions } from './start-features.ts';
import type { ProtectedResource } from '../protected-resource.ts';
import type { Claims } from '../tokens/claims.ts';
import { TOKEN_PATH } from '../paths.ts';
import { createTokenEndpoint } from '../endpoints/token.ts';
import { createGrants } from '../grants/grant-types.ts';
import { createIssuing } from '../grants/issuing.ts';
import { createLostAnswers } from '../grants/lost-answers.ts';
import type { Server } from '../server.ts';

/** What the token endpoint needs besides the shared parts. */
export interface TokenNeeds {
  readonly contributions: Contributions;
  readonly resource: ProtectedResource;
  readonly claims: Claims;
  readonly authenticateClient: AuthenticateClient;
  readonly recordUse: RecordUse;
}

/** Assembles the token endpoint: the grants, and what they issue. */
export function assembleTokenEndpoint(server: Server, needs: TokenNeeds): Handler {
  const { issuer, config, store, accounts, host, scopes, keys, audience, audit, clock, profiles } = server;
  const { contributions, resource, claims, authenticateClient, recordUse } = needs;
  const { binding } = contributions;
  const checks = contributions.issuanceChecks;
  const issuing = createIssuing({ issuer, config, scopes, host, keys, claims, checks, binding });
  const lostAnswers = createLostAnswers(clock);
  const grants = createGrants({
    store,
    accounts,
    issuing,
    scopes,
    admitsUnverified: server.admitsUnverified,
    audience,
    resource,
    audit,
    clock,
    lostAnswers,
    secondUses: contributions.secondUses,
    mayRedirect: contributions.mayRedirect,
    profiles,
    binding,
    measuring: server.measuring,
  });
  return createTokenEndpoint({
    authenticateClient,
    grants,
    binding,
    url: `${issuer}${TOKEN_PATH}`,
    lostAnswers,
    recordUse,
    pruning: server.pruning,
  });
}
