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
 * Reads and checks authorization requests (RFC 6749 section 4.1.1, OpenID Connect Core section
 * 3.1.2.1).
 */

/**
 * The result of the checks: the request and its client, or the error response for the redirect URI.
 * `signInFirst` means that a person must sign in before the server can check the request.
 */
export type CheckedRequest =
  | { readonly asked: AuthorizationRequest; readonly client: Client }
  | { readonly response: AuthorizationResponse }
  | { readonly signInFirst: true };

/** The access that a client requests: the scopes, and the resource that the tokens are for. */
export interface AskedAccess {
  readonly scopes: readonly string[];
  readonly audience: string | null;
}

/** The parameters of a request, and whether the client sent them directly to the server. */
export interface PutRequest {
  readonly parameters: Parameters;
  readonly direct: boolean;
  /**
   * When the request first arrived, and whether the browser was already on a page of the host.
   * Missing for a new request.
   */
  readonly received?: Received | undefined;
}

/**
 * Finds the client and the redirect URI of a request, then runs the checks in checks.ts. If a
 * request has several errors, the response contains only the first one, so the order of the checks
 * matters.
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
   * Checks a request that arrived through a browser. Throws a page error if the server cannot
   * safely send the response to a redirect URI (AS-7.4).
   *
   * `person` is null as long as the server has not found out who is signed in. In that case, this
   * method fetches no client document, and the caller must send errors only to clients that an
   * operator registered (RFC 9700 section 4.11.2).
   */
  async check(
    put: PutRequest,
    request: Request,
    person: PersonReference | null,
  ): Promise<CheckedRequest> {
    // Until the client and the redirect URI are verified, show errors on a page and do not redirect
    // (RFC 6749 section 4.1.2.1).
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
   * Checks a request that this authenticated client sent directly to the server. Throws an
   * OAuthError to refuse the request.
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
   * Checks the access that a client requests without a redirect URI, for example in a device
   * authorization request. Throws an OAuthError to refuse the request.
   */
  async access(parameters: Parameters, client: Client): Promise<AskedAccess> {
    const [server, additions] = [this.#server, this.#additions];
    const audience = requireResource(parameters, server.resources);
    return {
      audience,
      scopes: await grantableScopes({ parameters, client }, { server, additions }, audience),
    };
  }

  /**
   * Returns the parameters to store while the request waits for a sign-in, or after a client has
   * pushed it.
   */
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

  /** Runs the checks for a request whose client and redirect URI are already verified. */
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

/** Returns those of the named parameters that the request contains, with their values. */
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

/** Returns the requested scopes, before the request has been checked. */
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
 * Throws a page error if the client does not follow its security profile. The server does not send
 * this error to the client, because the profile may not allow the client's redirect URI.
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
    // An attacker can send any person to this page, so do not show a name that a client gave
    // itself.
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
 * Returns the reason why the client may not use this redirect URI, for the log. Leaves out the
 * redirect URI's query, because it may contain a secret.
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
 * Returns the request as parameters, so that Portico can store it and check it again later.
 * `keyParameter` is the name of the parameter that contains the key's thumbprint.
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
