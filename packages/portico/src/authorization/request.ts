import { page } from '../pages/words.ts';
import type { PersonReference } from '../person.ts';
import type { Clients } from '../clients/clients.ts';
import type { MayRedirect } from '../clients/redirect-uris.ts';
import { isVerified } from '../clients/who-asks.ts';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { quotedClientId, quotedUri } from '../quoting.ts';
import type { Profiles } from '../profiles.ts';
import { noteClient } from '../refusals.ts';
import { formatScope } from '../tokens/scopes.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest } from '../store/requests.ts';
import type { AuthorizationAdditions } from './additions.ts';
import { furtherParameters, grantableScopes, runChecks } from './checks.ts';
import type { Received } from './interaction.ts';
import { requireResource, sentParameters } from './request-parameters.ts';
import type { ReturnAddress } from './response-modes.ts';
import { responseTo, type AuthorizationResponse } from './response.ts';
import { readHint, hintsRead, type Hint } from './sign-in-hints.ts';
import type { SentParameters } from './waiting-requests.ts';

/**
 * The result of the checks. An error `response` goes to the redirect URI. `signInFirst` means that
 * a person must sign in before the server can check the request.
 */
export type CheckedRequest =
  | { readonly asked: AuthorizationRequest; readonly client: Client }
  | { readonly response: AuthorizationResponse }
  | { readonly signInFirst: true };

export interface AskedAccess {
  readonly scopes: readonly string[];
  readonly audience: string | null;
}

export interface PutRequest {
  readonly parameters: Parameters;
  readonly direct: boolean;
  /** Missing for a new request. */
  readonly received?: Received | undefined;
}

/**
 * Reads and checks authorization requests (RFC 6749 section 4.1.1, OpenID Connect Core section
 * 3.1.2.1). The response contains only the first error, so the order of the checks matters.
 */
export class RequestChecks {
  readonly #server: Server;
  readonly #clients: Clients;
  readonly #additions: AuthorizationAdditions;
  readonly #hints: readonly Hint[];

  constructor(server: Server, clients: Clients, additions: AuthorizationAdditions) {
    this.#server = server;
    this.#clients = clients;
    this.#additions = additions;
    this.#hints = hintsRead(server);
  }

  /**
   * Checks a request from a browser. Throws a page error if a redirect is not safe (AS-7.4).
   *
   * `person` is null until the server knows who is signed in. Until then, this method fetches no
   * client document. The caller may then redirect errors only to clients that an operator
   * registered (RFC 9700 section 4.11.2).
   */
  async check(
    put: PutRequest,
    request: Request,
    person: PersonReference | null,
  ): Promise<CheckedRequest> {
    // Show errors on a page until the client and the redirect URI are verified (RFC 6749 section
    // 4.1.2.1).
    const { parameters } = put;
    const { config, profiles } = this.#server;
    const { mayRedirect, responseModes } = this.#additions;
    const clientId = parameters.isRepeated('client_id') ? undefined : parameters.get('client_id');
    const found =
      clientId === undefined ? null : await this.#findClient(clientId, parameters, person);
    if (found !== null && 'signInFirst' in found) return found;
    const client = requireLiving(found, clientId, config.name, request);
    requireProfile(client, profiles, config.name);
    const redirectUri = requireRedirectUri(parameters, client, mayRedirect);
    const state = parameters.isRepeated('state') ? null : (parameters.get('state') ?? null);
    const returns = { redirectUri, state };
    try {
      return { asked: await this.#judge(put, client, returns), client };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const mode = responseModes.forError(parameters, returns);
      return { response: responseTo({ ...returns, ...mode }, client, { error }) };
    }
  }

  /**
   * Checks a request that this authenticated client sent directly. Throws an OAuthError to refuse
   * it.
   */
  async checkDirect(parameters: Parameters, client: Client): Promise<AuthorizationRequest> {
    const { mayRedirect } = this.#additions;
    const redirectUri = parameters.get('redirect_uri');
    if (redirectUri === undefined || !mayRedirect(client, redirectUri)) {
      throw new OAuthError(
        'invalid_request',
        'The redirect_uri is missing, or the client is not registered with it.',
        redirectUriProblem(client, redirectUri, mayRedirect),
      );
    }
    const state = parameters.get('state') ?? null;
    return this.#judge({ parameters, direct: true }, client, { redirectUri, state });
  }

  /**
   * Checks a request without a redirect URI, for example for a device. Throws an OAuthError to
   * refuse it.
   */
  async access(parameters: Parameters, client: Client): Promise<AskedAccess> {
    const [server, additions] = [this.#server, this.#additions];
    const audience = requireResource(parameters, server.resources);
    return {
      audience,
      scopes: await grantableScopes({ parameters, client }, { server, additions }, audience),
    };
  }

  /** Returns the parameters to store while the request waits. */
  kept(parameters: Parameters): SentParameters {
    return sentParameters(parameters, {
      further: furtherParameters(this.#additions),
      hints: this.#hints,
    });
  }

  async #findClient(clientId: string, parameters: Parameters, person: PersonReference | null) {
    const { clientSource } = this.#additions;
    if (clientSource?.names(clientId) !== true) return this.#clients.find(clientId);
    clientSource.require(clientId);
    return person === null
      ? SIGN_IN_FIRST
      : clientSource.find(clientId, person, askedScopes(parameters));
  }

  /** The caller has verified the client and the redirect URI. */
  async #judge(
    { parameters, direct }: PutRequest,
    client: Client,
    returns: ReturnAddress,
  ): Promise<AuthorizationRequest> {
    const [server, additions] = [this.#server, this.#additions];
    const found = await runChecks({ parameters, client, returns, direct }, { server, additions });
    return {
      clientId: client.id,
      ...returns,
      nonce: parameters.get('nonce') ?? null,
      ...found,
      ...(server.speaking.locales === null
        ? {}
        : { uiLocales: readHint(parameters, 'ui_locales') }),
      ...(direct ? { direct } : {}),
      ...readFurther(parameters, additions.reading.parameters),
    };
  }
}

function readFurther(
  parameters: Parameters,
  names: readonly string[],
): { readonly further?: Readonly<Record<string, string>> } {
  const sent = names.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return sent.length === 0 ? {} : { further: Object.fromEntries(sent) };
}

const SIGN_IN_FIRST = { signInFirst: true } as const;

/** Returns the requested scopes, unchecked. */
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

/**
 * Throws a page error if the client does not follow its security profile. This error is not
 * redirected: the profile may forbid the redirect URI.
 */
function requireProfile(client: Client, profiles: Profiles, serverName: string): void {
  const refusal = profiles.refusal(client);
  if (refusal === null) return;
  throw new AuthorizationPageError(
    isVerified(client)
      ? page('error.client_against_rules', { server: serverName, client: client.name })
      : page('error.unverified_client_against_rules', { server: serverName }),
    `the client ${client.id} is refused: ${refusal}`,
  );
}

function requireRedirectUri(
  parameters: Parameters,
  client: Client,
  mayRedirect: MayRedirect,
): string {
  const redirectUri = parameters.isRepeated('redirect_uri')
    ? undefined
    : parameters.get('redirect_uri');
  if (redirectUri !== undefined && mayRedirect(client, redirectUri)) return redirectUri;
  throw new AuthorizationPageError(
    // An attacker can send any person here. Do not show a name that a client gave itself.
    isVerified(client)
      ? page('error.unregistered_address', { client: client.name })
      : page('error.unverified_unregistered_address'),
    redirectUriProblem(client, redirectUri, mayRedirect),
  );
}

function redirectUriProblem(
  client: Client,
  redirectUri: string | undefined,
  mayRedirect: MayRedirect,
): string {
  return redirectUri === undefined
    ? `the client ${client.id} sent no redirect_uri, or more than one`
    : unregistered(client, redirectUri, mayRedirect);
}

/**
 * Returns why the client may not use this redirect URI, for the log. Omits the URI's query, which
 * may contain a secret.
 */
function unregistered(client: Client, redirectUri: string, mayRedirect: MayRedirect): string {
  const shown = quotedUri(redirectUri);
  const registered = client.redirectUris.map(quotedUri);
  const difference = registered.includes(shown)
    ? ', and they differ in parts that the log does not show'
    : mayRedirect({ ...client, applicationType: 'native' }, redirectUri)
      ? '; only a native application may use another port'
      : '';
  return (
    `the redirect_uri is ${shown}, but the client ${client.id} is registered with ` +
    `${registered.join(', ') || 'none'}${difference}`
  );
}

/**
 * Returns the request as parameters, to store and check it again later. `keyParameter` names the
 * parameter for the key's thumbprint.
 */
export function sameParameters(
  asked: AuthorizationRequest,
  keyParameter: string | null,
): SentParameters {
  const parameters = {
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    response_type: 'code',
    response_mode: asked.responseMode ?? null,
    scope: formatScope(asked.scopes),
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: asked.codeChallenge,
    code_challenge_method: 'S256',
    resource: asked.audience,
    ...(keyParameter === null ? {} : { [keyParameter]: asked.thumbprint }),
    ui_locales: asked.uiLocales ?? null,
    ...asked.further,
  };
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
}
