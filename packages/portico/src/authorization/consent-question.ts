import type { Visitor } from '../host/accounts.ts';
import { formToken, isFormToken } from '../host/form-token.ts';
import type { UserInterface } from '../person.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ChoosableScopes, ConsentRequest } from '../store/requests.ts';
import { intersectScopes } from '../tokens/scopes.ts';
import type { ScopesToAsk } from './grantable-scopes.ts';

export interface ConsentQuestion {
  readonly requestId: string;
  readonly client: Client;
  readonly user: UserInterface;
  /** The scopes that the person may grant. Never empty. */
  readonly scopes: readonly string[];
  /**
   * The scopes in `scopes` that the person has allowed before. Always empty, unless clients may
   * request the resource's scopes step by step.
   */
  readonly grantedBefore: readonly string[];
  /** Undefined if there is nothing to choose. */
  readonly choices: ChoosableScopes | undefined;
  /** The resource's label. Null if it has none. */
  readonly resource: string | null;
  readonly redirectUri: string;
  readonly csrfToken: string;
}

export type AskedRequest = AuthorizationRequest & Pick<ConsentRequest, 'choices' | 'details'>;

export function askConsent(
  { resources }: Server,
  { redirectUri, audience, choices }: AskedRequest,
  requestId: string,
  client: Client,
  visitor: Visitor,
  { scopes, before }: ScopesToAsk,
): ConsentQuestion {
  const csrfToken = formToken(visitor, ...getForm(requestId));
  const grantedBefore = intersectScopes(scopes, before);
  const { user } = visitor;
  const resource = resources.find(audience)?.label ?? null;
  return {
    requestId,
    client,
    user,
    scopes,
    grantedBefore,
    choices,
    resource,
    redirectUri,
    csrfToken,
  };
}

/** Returns true if the CSRF token is for this request and this browser session. */
export function isConsentToken(csrfToken: string, requestId: string, visitor: Visitor): boolean {
  return isFormToken(csrfToken, visitor, ...getForm(requestId));
}

/** Each consent page has its own CSRF token. Several can be open at the same time (AS-8.3). */
function getForm(requestId: string): readonly string[] {
  return ['oauth/consent', requestId];
}
