import type { Visitor } from '../host/accounts.ts';
import { formToken, isFormToken } from '../host/form-token.ts';
import type { UserInterface } from '../person.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ChoosableScopes, ConsentRequest } from '../store/requests.ts';
import { intersectScopes } from '../tokens/scopes.ts';
import type { ScopesToAsk } from './grantable-scopes.ts';

/** What the consent page asks the person. */
export interface ConsentQuestion {
  readonly requestId: string;
  readonly client: Client;
  readonly user: UserInterface;
  /** The scopes that the person may grant. Never empty. */
  readonly scopes: readonly string[];
  /**
   * The scopes in `scopes` that the person has allowed this client before. Always empty, unless
   * clients may request the resource's scopes step by step.
   */
  readonly grantedBefore: readonly string[];
  /** The scopes that the person can check or uncheck. Undefined if there is nothing to choose. */
  readonly choices: ChoosableScopes | undefined;
  /** The label of the requested resource. Null if it has no label. */
  readonly resource: string | null;
  readonly redirectUri: string;
  readonly csrfToken: string;
}

/**
 * An authorization request, with the scopes that the person can choose and the details to store
 * with the authorization.
 */
export type AskedRequest = AuthorizationRequest & Pick<ConsentRequest, 'choices' | 'details'>;

/** Returns the question for this request, with a CSRF token for the consent form. */
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

/**
 * Whether the CSRF token was issued for this request's consent form in this visitor's browser
 * session.
 */
export function isConsentToken(csrfToken: string, requestId: string, visitor: Visitor): boolean {
  return isFormToken(csrfToken, visitor, ...getForm(requestId));
}

/**
 * Returns what the CSRF token is bound to: the form's name and the request. Each consent page has a
 * separate token, because several can be open at the same time (AS-8.3).
 */
function getForm(requestId: string): readonly string[] {
  return ['oauth/consent', requestId];
}
