import type { Clients } from '../clients/clients.ts';
import { isRegistered } from '../clients/redirect-uris.ts';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import { missingKey, type KeyRing } from '../keys.ts';
import type { Parameters } from '../parameters.ts';
import { isCodeChallenge } from '../grants/pkce.ts';
import { quoted, quotedClientId, quotedUri } from '../quoting.ts';
import { noteClient } from '../refusals.ts';
import { formatScope, requireScopes, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, ConsentRequest } from '../store/store.ts';
import { requireAudience } from '../tokens/resource-indicators.ts';
import type { AuthorizationResponse } from './response.ts';
import type { SentParameters } from './waiting.ts';

/** An authorization request (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1), and the checks of it. */

/** What a request asks for, once every check has passed. */
export type AuthorizationRequest = Pick<
  ConsentRequest,
  'clientId' | 'redirectUri' | 'scopes' | 'state' | 'nonce' | 'codeChallenge' | 'audience'
>;

/** The request and its client, or the error response for its redirect URI. */
export type CheckedRequest =
  | { readonly asked: AuthorizationRequest; readonly client: Client }
  | { readonly response: AuthorizationResponse };

/** Throws a page error when it is not certain where a response may be sent (AS-7.4). */
export type CheckRequest = (parameters: Parameters, request: Request) => Promise<CheckedRequest>;

export interface RequestChecksOptions {
  readonly clients: Pick<Clients, 'find'>;
  readonly scopes: ScopeCatalog;
  readonly keys: Pick<KeyRing, 'active'>;
  /** `oauth_server:audience`; null when it is empty. */
  readonly audience: string | null;
  readonly serverName: string;
  /** Where the signing keys are, for the log. */
  readonly keyPath: string;
}

/** The parameters that may be sent only once. So may `client_id`, `redirect_uri` and `resource`, with errors of their own. */
const SINGLE_PARAMETERS = [
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'request',
  'request_uri',
] as const;

/** The order of the steps is behaviour: of several errors, the first is reported. */
export function createRequestChecks(options: RequestChecksOptions): CheckRequest {
  const { clients, scopes: catalog, keys, audience, serverName, keyPath } = options;
  return async (parameters, request) => {
    // Until client and redirect URI are certain, an error is a page and never a redirect (RFC 6749 section 4.1.2.1).
    const client = await requireClient(parameters, clients, serverName, request);
    const redirectUri = requireRedirectUri(parameters, client);
    const state = parameters.isRepeated('state') ? null : (parameters.get('state') ?? null);
    try {
      refuseRepeatedParameters(parameters);
      refuseRequestObjects(parameters);
      requireResponseType(parameters);
      requireResponseMode(parameters);
      requirePrompt(parameters);
      refuseMaxAge(parameters);
      requireGrant(client);
      const codeChallenge = requirePkce(parameters);
      const resource = requireResource(parameters, audience);
      const scopes = requireScope(parameters, client, catalog);
      await requireSigningKey(scopes, client, keys, keyPath);
      const nonce = parameters.get('nonce') ?? null;
      const asked = {
        clientId: client.id,
        redirectUri,
        state,
        nonce,
        codeChallenge,
        audience: resource,
        scopes,
      };
      return { asked, client };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return { response: { redirectUri, state, result: { error } } };
    }
  };
}

async function requireClient(
  parameters: Parameters,
  clients: Pick<Clients, 'find'>,
  serverName: string,
  request: Request,
): Promise<Client> {
  const clientId = parameters.isRepeated('client_id') ? undefined : parameters.get('client_id');
  const client = clientId === undefined ? null : await clients.find(clientId);
  if (client !== null) noteClient(request, client.id);
  if (client !== null && client.revokedAt === null) return client;
  throw new AuthorizationPageError(
    'Unknown application',
    `The link that brought you here names no application that ${serverName} knows.`,
    clientId === undefined
      ? 'no client_id was sent, or more than one'
      : client === null
        ? `no client has the id ${quotedClientId(clientId)}`
        : `the client ${client.id} was revoked`,
  );
}

function requireRedirectUri(parameters: Parameters, client: Client): string {
  const redirectUri = parameters.isRepeated('redirect_uri') ? undefined : parameters.get('redirect_uri');
  if (redirectUri !== undefined && isRegistered(client, redirectUri)) return redirectUri;
  throw new AuthorizationPageError(
    'Unregistered return address',
    `${client.name} asked to be answered at an address that it is not registered with, so you are not sent there.`,
    redirectUri === undefined
      ? `the client ${client.id} sent no redirect_uri, or more than one`
      : unregistered(client, redirectUri),
  );
}

/** Both are matched character by character; a query is not shown, as it may hold a secret. */
function unregistered(client: Client, redirectUri: string): string {
  const shown = quotedUri(redirectUri);
  const registered = client.redirectUris.map(quotedUri);
  const difference = registered.includes(shown) ? ', and they differ in what is not shown here' : '';
  return (
    `the redirect_uri is ${shown}, the client ${client.id} is registered with ` +
    `${registered.join(', ') || 'none'}${difference}`
  );
}

function refuseRepeatedParameters(parameters: Parameters): void {
  for (const name of SINGLE_PARAMETERS) parameters.get(name);
}

/** OpenID Connect Core section 3.1.2.6. */
function refuseRequestObjects(parameters: Parameters): void {
  if (parameters.has('request')) {
    throw new OAuthError('request_not_supported', 'Request objects are not supported.');
  }
  if (parameters.has('request_uri')) {
    throw new OAuthError('request_uri_not_supported', 'Request objects are not supported.');
  }
}

function requireResponseType(parameters: Parameters): void {
  const responseType = parameters.require('response_type');
  if (responseType !== 'code') {
    const detail = `the response_type is ${quoted(responseType)}`;
    throw new OAuthError('unsupported_response_type', 'The only response_type is code.', detail);
  }
}

function requireResponseMode(parameters: Parameters): void {
  const responseMode = parameters.get('response_mode');
  if (responseMode !== undefined && responseMode !== 'query') {
    const detail = `the response_mode is ${quoted(responseMode)}`;
    throw new OAuthError('invalid_request', 'The only response_mode is query.', detail);
  }
}

/** OpenID Connect Core section 3.1.2.1: consent is always asked for, so `consent` is satisfied and `none` cannot be. */
function requirePrompt(parameters: Parameters): void {
  const prompt = parameters.get('prompt') ?? '';
  const values = new Set(prompt.split(' ').filter((value) => value !== ''));
  if (values.size === 1 && values.has('none')) {
    throw new OAuthError(
      'interaction_required',
      'Consent is always asked for, so prompt=none cannot succeed.',
    );
  }
  values.delete('consent');
  if (values.has('login')) {
    throw new OAuthError(
      'invalid_request',
      'prompt=login cannot be honoured: re-authentication cannot be forced.',
    );
  }
  if (values.size > 0) {
    const detail = `the prompt is ${quoted(prompt)}`;
    throw new OAuthError('invalid_request', 'The only values of prompt are consent and none, apart.', detail);
  }
}

function refuseMaxAge(parameters: Parameters): void {
  if (parameters.has('max_age')) {
    throw new OAuthError(
      'invalid_request',
      'max_age cannot be honoured: the last authentication time is not recorded.',
    );
  }
}

function requireGrant(client: Client): void {
  if (!client.grants.includes('authorization_code')) {
    throw new OAuthError(
      'unauthorized_client',
      'The client is not registered for the grant authorization_code.',
      `the client is registered for ${client.grants.join(', ')}`,
    );
  }
}

/** The code challenge (RFC 7636 section 4.3). */
function requirePkce(parameters: Parameters): string {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined || method !== 'S256') {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: a code_challenge with code_challenge_method=S256.',
      pkceProblem(challenge, method),
    );
  }
  if (!isCodeChallenge(challenge)) {
    throw new OAuthError('invalid_request', 'The code_challenge is not the base64url of a SHA-256.');
  }
  return challenge;
}

function pkceProblem(challenge: string | undefined, method: string | undefined): string {
  if (challenge === undefined) return 'no code_challenge was sent';
  return method === undefined
    ? 'no code_challenge_method was sent, which means plain'
    : `the code_challenge_method is ${quoted(method)}`;
}

/** The audience of the grant (RFC 8707 section 2.1). */
function requireResource(parameters: Parameters, audience: string | null): string | null {
  if (parameters.isRepeated('resource')) {
    throw new OAuthError('invalid_target', 'More than one resource is named; a grant has one target.');
  }
  return requireAudience(parameters.get('resource'), audience);
}

/** The scopes asked for: without `scope` all that the client may have, except `openid`. */
function requireScope(parameters: Parameters, client: Client, catalog: ScopeCatalog): readonly string[] {
  const offered = client.scopes.filter((name) => catalog.has(name));
  return requireScopes(parameters.get('scope'), {
    available: offered,
    omitted: offered.filter((name) => name !== 'openid'),
    refusal: 'The scope is empty, unknown, or not one that this client may ask for.',
    detail: 'unknown, or not registered for this client',
  });
}

/** Checked before the person is asked, since without a key the ID token could not be signed afterwards. */
async function requireSigningKey(
  scopes: readonly string[],
  { idTokenSignedResponseAlg: algorithm }: Client,
  keys: Pick<KeyRing, 'active'>,
  keyPath: string,
): Promise<void> {
  if (scopes.includes('openid') && (await keys.active(algorithm)) === null) {
    const { key, command } = missingKey(algorithm);
    throw new OAuthError(
      'invalid_scope',
      `The scope openid cannot be granted: the server has ${key}.`,
      `there is ${key} in ${keyPath}; run ${command}`,
    );
  }
}

/** The parameters that the checks read, as they were sent. */
export function sentParameters(parameters: Parameters): SentParameters {
  return ['client_id', 'redirect_uri', 'resource', ...SINGLE_PARAMETERS].flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** The parameters of a new request for the same. */
export function sameParameters(asked: AuthorizationRequest): SentParameters {
  const parameters = {
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    response_type: 'code',
    scope: formatScope(asked.scopes),
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: asked.codeChallenge,
    code_challenge_method: 'S256',
    resource: asked.audience,
  };
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
}
