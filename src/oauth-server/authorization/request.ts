import { page } from '../../words/words.ts';
import type { PersonReference } from '../../contracts/person.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { Clients } from '../clients/clients.ts';
import { isRegistered } from '../clients/redirect-uris.ts';
import { isVerified } from '../clients/who-asks.ts';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import { missingKey } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Parameters } from '../parameters.ts';
import { quotedClientId, quotedUri } from '../quoting.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { noteClient } from '../refusals.ts';
import { formatScope, requireScopes, scopesLeftOut, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client } from '../store/client.ts';
import type { ConsentRequest } from '../store/requests.ts';
import {
  DPOP_JKT,
  refuseMaxAge,
  refuseRepeatedParameters,
  refuseRequestObjects,
  requirePkce,
  requirePrompt,
  requireResource,
  requireResponseMode,
  requireResponseType,
  requireThumbprint,
} from './request-parameters.ts';
import { hintOf } from './sign-in-hints.ts';
import type { AuthorizationResponse } from './response.ts';
import type { SentParameters } from './waiting-requests.ts';

/** An authorization request (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1), and the checks of it. */

/** What a request asks for, once every check has passed. */
export type AuthorizationRequest = Pick<
  ConsentRequest,
  | 'clientId'
  | 'redirectUri'
  | 'scopes'
  | 'state'
  | 'nonce'
  | 'codeChallenge'
  | 'audience'
  | 'dpopJkt'
  | 'uiLocales'
  | 'pushed'
>;

/** The request and its client, or the error response for its redirect URI, or that somebody has to be signed in before either. */
export type CheckedRequest =
  | { readonly asked: AuthorizationRequest; readonly client: Client }
  | { readonly response: AuthorizationResponse }
  | { readonly signInFirst: true };

export interface RequestChecks {
  /**
   * Throws a page error when it is not certain where a response may be sent (AS-7.4). For nobody who is signed in (`person` is null),
   * no document is fetched, and no browser sent to a client that no operator registered (RFC 9700 section 4.11.2).
   */
  check(put: PutRequest, request: Request, person: PersonReference | null): Promise<CheckedRequest>;
  /** The same of what this client pushes (RFC 9126 section 2.1), whom it says it is. Throws the OAuthError that refuses it. */
  checkPushed(parameters: Parameters, client: Client): Promise<AuthorizationRequest>;
}

/** A request as it is put to the server: with what it asks for, and whether the client pushed that (RFC 9126). */
export interface PutRequest {
  readonly parameters: Parameters;
  readonly pushed: boolean;
}

export interface RequestChecksOptions {
  readonly clients: Pick<Clients, 'find'>;
  readonly documents: Pick<ClientDocuments, 'names' | 'require' | 'find'>;
  readonly profiles: Pick<Profiles, 'refusal'>;
  readonly scopes: ScopeCatalog;
  /** Whether clients may come that no operator registered: what these cannot have is left out of what they ask for. */
  readonly admitsUnverified: boolean;
  readonly keys: Pick<KeyRing, 'active'>;
  /** `oauth_server:audience`; null when it is empty. */
  readonly audience: string | null;
  /** Whether a code may be bound to a key (`oauth_server:dpop`); otherwise nothing is read of that. */
  readonly takesDpop: boolean;
  readonly serverName: string;
  /** Whether `ui_locales` is read (`oauth_server:languages`). */
  readonly withLanguage: boolean;
  /** Whether every request has to be pushed (RFC 9126). */
  readonly requiresPushed: boolean;
  /** Where the signing keys are, for the log. */
  readonly keyPath: string;
}

/** The order of the steps is behaviour: of several errors, the first is reported. */
export function createRequestChecks(options: RequestChecksOptions): RequestChecks {
  const {
    clients,
    documents,
    profiles,
    scopes: catalog,
    admitsUnverified,
    keys,
    audience,
    takesDpop,
    withLanguage,
    serverName,
    requiresPushed,
    keyPath,
  } = options;

  async function findClient(clientId: string, parameters: Parameters, person: PersonReference | null) {
    if (!documents.names(clientId)) return clients.find(clientId);
    documents.require(clientId);
    return person === null ? SIGN_IN_FIRST : documents.find(clientId, person, askedScopes(parameters));
  }

  /** Once client and redirect URI are certain. */
  async function judge(
    { parameters, pushed }: PutRequest,
    client: Client,
    { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  ): Promise<AuthorizationRequest> {
    refuseRepeatedParameters(parameters, takesDpop);
    refuseRequestObjects(parameters);
    if (!pushed) refuseUnpushed(client, requiresPushed);
    requireResponseType(parameters);
    requireResponseMode(parameters);
    requirePrompt(parameters);
    refuseMaxAge(parameters);
    requireGrant(client);
    const codeChallenge = requirePkce(parameters);
    const dpopJkt = takesDpop ? requireThumbprint(parameters) : null;
    const resource = requireResource(parameters, audience);
    const leftOut = admitsUnverified ? scopesLeftOut(client, catalog) : [];
    const asked = requireScope(parameters, client, catalog, leftOut);
    const scopes = await signable(asked, client, leftOut, { keys, keyPath });
    const nonce = parameters.get('nonce') ?? null;
    return {
      clientId: client.id,
      redirectUri,
      state,
      nonce,
      codeChallenge,
      audience: resource,
      dpopJkt,
      scopes,
      ...(withLanguage ? { uiLocales: hintOf(parameters, 'ui_locales') } : {}),
      ...(pushed ? { pushed } : {}),
    };
  }

  return {
    async check(put, request, person) {
      // Until client and redirect URI are certain, an error is a page and never a redirect (RFC 6749 section 4.1.2.1).
      const { parameters } = put;
      const clientId = parameters.isRepeated('client_id') ? undefined : parameters.get('client_id');
      const found = clientId === undefined ? null : await findClient(clientId, parameters, person);
      if (found !== null && 'signInFirst' in found) return found;
      const client = requireLiving(found, clientId, serverName, request);
      requireProfile(client, profiles, serverName);
      const redirectUri = requireRedirectUri(parameters, client);
      const state = parameters.isRepeated('state') ? null : (parameters.get('state') ?? null);
      try {
        return { asked: await judge(put, client, { redirectUri, state }), client };
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        return { response: { client, redirectUri, state, result: { error } } };
      }
    },

    async checkPushed(parameters, client) {
      const redirectUri = parameters.get('redirect_uri');
      if (redirectUri === undefined || !isRegistered(client, redirectUri)) {
        throw new OAuthError(
          'invalid_request',
          'The redirect_uri is missing, or the client is not registered with it.',
          redirectUriProblem(client, redirectUri),
        );
      }
      const state = parameters.get('state') ?? null;
      return judge({ parameters, pushed: true }, client, { redirectUri, state });
    },
  };
}

const SIGN_IN_FIRST = { signInFirst: true } as const;

/** As far as they can be told before the request is checked. */
export function askedScopes(parameters: Parameters): readonly string[] {
  return parameters.isRepeated('scope') ? [] : (parameters.get('scope') ?? '').split(' ');
}

function requireLiving(
  client: Client | null,
  clientId: string | undefined,
  serverName: string,
  request: Request,
): Client {
  if (client !== null) noteClient(request, client.id);
  if (client !== null && client.revokedAt === null) return client;
  throw new AuthorizationPageError(
    page('error.unknown_client', { server: serverName }),
    clientId === undefined
      ? 'no client_id was sent, or more than one'
      : client === null
        ? `no client has the id ${quotedClientId(clientId)}`
        : `the client ${client.id} was revoked`,
  );
}

/** A page, and no answer to the client: where it goes may be what the profile does not allow. */
function requireProfile(client: Client, profiles: Pick<Profiles, 'refusal'>, serverName: string): void {
  const refusal = profiles.refusal(client);
  if (refusal === null) return;
  throw new AuthorizationPageError(
    isVerified(client)
      ? page('error.client_against_rules', { server: serverName, client: client.name })
      : page('error.unverified_client_against_rules', { server: serverName }),
    `the client ${client.id} is given nothing: ${refusal}`,
  );
}

function requireRedirectUri(parameters: Parameters, client: Client): string {
  const redirectUri = parameters.isRepeated('redirect_uri') ? undefined : parameters.get('redirect_uri');
  if (redirectUri !== undefined && isRegistered(client, redirectUri)) return redirectUri;
  throw new AuthorizationPageError(
    // Anybody may be shown this page, and no name that anybody may have given himself stands on it.
    isVerified(client)
      ? page('error.unregistered_address', { client: client.name })
      : page('error.unverified_unregistered_address'),
    redirectUriProblem(client, redirectUri),
  );
}

function redirectUriProblem(client: Client, redirectUri: string | undefined): string {
  return redirectUri === undefined
    ? `the client ${client.id} sent no redirect_uri, or more than one`
    : unregistered(client, redirectUri);
}

/** Nothing but the port of a native application's may differ; a query is not shown, as it may hold a secret. */
function unregistered(client: Client, redirectUri: string): string {
  const shown = quotedUri(redirectUri);
  const registered = client.redirectUris.map(quotedUri);
  const difference = registered.includes(shown)
    ? ', and they differ in what is not shown here'
    : isRegistered({ ...client, applicationType: 'native' }, redirectUri)
      ? '; only a native application may be answered on another port'
      : '';
  return (
    `the redirect_uri is ${shown}, the client ${client.id} is registered with ` +
    `${registered.join(', ') || 'none'}${difference}`
  );
}

/** RFC 9126 sections 5 and 6. A client that asks by pushed requests alone gets nothing otherwise, whether or not the server takes any now. */
function refuseUnpushed(client: Client, requiresPushed: boolean): void {
  const problem = unpushedProblem(client, requiresPushed);
  if (problem === null) return;
  throw new OAuthError('invalid_request', 'The request has to be pushed first (RFC 9126).', problem);
}

/** Why a request of this client that was not pushed is refused; null where it may be taken. */
export function unpushedProblem(
  { pushesRequests }: Pick<Client, 'pushesRequests'>,
  requiresPushed: boolean,
): string | null {
  if (pushesRequests) return 'the client is registered to push its requests, and did not push this one';
  return requiresPushed
    ? 'oauth_server:pushed_authorization_requests is require, and the request was not pushed'
    : null;
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

/** The scopes asked for: without `scope` all that the client may have, except `openid`. */
function requireScope(
  parameters: Parameters,
  client: Client,
  catalog: ScopeCatalog,
  leftOut: readonly string[],
): readonly string[] {
  const offered = client.scopes.filter((name) => catalog.has(name));
  return requireScopes(parameters.get('scope'), {
    available: offered,
    omitted: offered.filter((name) => name !== 'openid'),
    leftOut,
    refusal: 'The scope is empty, unknown, or not one that this client may ask for.',
    detail: 'unknown, or not registered for this client',
  });
}

/** Checked before the person is asked, since without a key the ID token could not be signed afterwards. */
async function signable(
  scopes: readonly string[],
  { idTokenSignedResponseAlg: algorithm }: Client,
  leftOut: readonly string[],
  { keys, keyPath }: Pick<RequestChecksOptions, 'keys' | 'keyPath'>,
): Promise<readonly string[]> {
  if (!scopes.includes('openid') || (await keys.active(algorithm)) !== null) return scopes;
  const remaining = scopes.filter((name) => name !== 'openid');
  if (remaining.length > 0 && leftOut.includes('openid')) return remaining;
  const { key, command } = missingKey(algorithm);
  throw new OAuthError(
    'invalid_scope',
    `The scope openid cannot be granted: the server has ${key}.`,
    `there is ${key} in ${keyPath}; run ${command}`,
  );
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
    [DPOP_JKT]: asked.dpopJkt,
    ui_locales: asked.uiLocales ?? null,
  };
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
}
