import { isBearerRequest } from '../../http/bearer.ts';
import { equalInConstantTime } from '../../http/constant-time.ts';
import { beginWaiting, crowdedOut, waitingRequest, type SentParameters } from '../authorization/waiting.ts';
import {
  ask,
  askAgain,
  csrfTokenFor,
  notAnswerable,
  requireRequest,
  takeAnswer,
  warnOfAnotherSecret,
  type Answer,
  type Asked,
  type AuthorizationRequest,
  type Question,
} from '../consent.ts';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import { pageReply, redirectReply } from '../pages.ts';
import { createParameters, queryParameters, readForm, unrepeated, type Parameters } from '../parameters.ts';
import { isCodeChallenge } from '../pkce.ts';
import { redirectWith } from '../clients/redirect-uris.ts';
import { noteClient, quoted, quotedClientId, quotedUri } from '../refusals.ts';
import type { Reply } from '../responses.ts';
import { beyondScopes, requestedScopes } from '../scopes.ts';
import type { ServerContext } from '../server-context.ts';
import type { Client } from '../store/store.ts';
import { requireAudience } from '../tokens/resource-indicators.ts';
import { AUTHORIZE_PATH } from './paths.ts';

/** A client and redirect URI that belong together: from here on, errors go to the redirect URI. */
interface Destination {
  readonly client: Client;
  readonly redirectUri: string;
  /** Unchanged; null when it was omitted or is ambiguous. */
  readonly state: string | null;
}

/**
 * GET /oauth/authorize (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1): checks the request and puts it to the
 * signed-in person. Without one it waits in the browser, and the person signs in and comes back with the request's id alone.
 */
export async function authorizeEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  refuseBearer(request);
  const parameters = queryParameters(request);
  const returning = returningRequestId(parameters);
  if (returning !== null) return askOrSignIn(context, request, returning);
  return checked(context, request, parameters, async (authorization, client) => {
    const visitor = await context.accounts.visitor(request);
    if (visitor !== null) return shown(context, await ask(context, authorization, client, visitor));
    const { requestId, cookies } = await beginWaiting(context, request, sentIn(parameters));
    return { ...redirectReply(signInUrl(context, requestId), 302), cookies };
  });
}

/** POST /oauth/authorize: the person's answer on the consent screen, or an authorization request, which names a client. */
export async function consentEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  refuseBearer(request);
  const form = await readForm(request);
  const parameters = createParameters(form);
  if (!parameters.has('client_id')) return takeForm(context, request, unrepeated(form));
  if (parameters.has('request_id')) {
    const detail = 'a form with a client_id and a request_id';
    throw new AuthorizationPageError('This request is not clear', BOTH_AT_ONCE, detail);
  }
  return postedRequest(context, request, parameters);
}

/**
 * An authorization request in a form (a MUST of OpenID Connect Core section 3.1.2.1). Another site sends it, so the browser
 * leaves its cookies out: who is signed in shows when it comes back by itself, with the request's id.
 */
async function postedRequest(
  context: ServerContext,
  request: Request,
  parameters: Parameters,
): Promise<Reply> {
  return checked(context, request, parameters, async () => {
    const { requestId, cookies } = await beginWaiting(context, request, sentIn(parameters));
    return { ...redirectReply(returnUrl(requestId), 303), cookies };
  });
}

async function takeForm(context: ServerContext, request: Request, form: Parameters): Promise<Reply> {
  const requestId = form.get('request_id');
  const csrfToken = form.get('csrf_token');
  const decision = form.get('decision');
  const visitor = await context.accounts.visitor(request);
  if (visitor === null) {
    const detail = 'nobody is signed in in the session that the answer came with';
    throw new AuthorizationPageError('You are not signed in', SIGNED_OUT, detail);
  }
  if (
    requestId === undefined ||
    csrfToken === undefined ||
    decision === undefined ||
    !DECISIONS.has(decision)
  ) {
    const detail = 'the form lacks request_id, csrf_token or a decision that is known';
    throw new AuthorizationPageError('This answer was not accepted', FORGED, detail);
  }
  if (!equalInConstantTime(csrfToken, csrfTokenFor(requestId, visitor))) {
    await warnOfAnotherSecret(context, requestId, visitor);
    const detail = 'the csrf_token is not the one of this request and browser session';
    throw new AuthorizationPageError('This answer was not accepted', FORGED, detail);
  }
  if (decision !== 'switch') {
    return answerReply(context, await takeAnswer(context, requestId, visitor, decision === 'allow'), 303);
  }
  const ended = await requireRequest(context, requestId, visitor);
  const anew = await beginWaiting(context, request, sentAs(ended));
  await context.store.voidConsentRequest(ended.idHash);
  await context.host.signOut(request);
  return { ...redirectReply(signInUrl(context, anew.requestId), 303), cookies: anew.cookies };
}

/** The buttons of the consent screen; `switch` is "Not you?". */
const DECISIONS: ReadonlySet<string> = new Set(['allow', 'deny', 'switch']);

const SIGNED_OUT = 'The answer was not taken. Go back to the application and start again.';
const FORGED =
  'It did not come from the page that asked, or another person has signed in since. No answer was taken now. ' +
  'Go back to the application and start again.';
const BOTH_AT_ONCE = 'It is a question and an answer at once. Go back to the application and start again.';

/** People answer here, in a browser session, which a request with an access token never has. */
function refuseBearer(request: Request): void {
  if (isBearerRequest(request)) {
    throw new OAuthError('invalid_request', 'The authorization endpoint takes no access token.');
  }
}

/** Back from signing in, the browser brings the id of a kept request, and no client. */
function returningRequestId(parameters: Parameters): string | null {
  return parameters.has('client_id') || parameters.isRepeated('request_id')
    ? null
    : (parameters.get('request_id') ?? null);
}

/** What was put to somebody is put again; what waited is checked as if it came now, since clients and scopes change. */
async function askOrSignIn(context: ServerContext, request: Request, requestId: string): Promise<Reply> {
  const visitor = await context.accounts.visitor(request);
  if (visitor === null) {
    const cookies = await crowdedOut(context, request, requestId);
    return { ...redirectReply(signInUrl(context, requestId), 302), cookies };
  }
  const asked = await askAgain(context, requestId, visitor);
  if (asked !== null) return shown(context, asked);
  const waited = await waitingRequest(context, request, requestId);
  if (waited === null) {
    // The same page opened twice at once: the other was quicker, and what waited here is a question by now.
    const meanwhile = await askAgain(context, requestId, visitor);
    if (meanwhile !== null) return shown(context, meanwhile);
    throw notAnswerable('it is unknown, or waited too long, or in another browser');
  }
  const parameters = createParameters(new URLSearchParams(waited.sent.map(([name, value]) => [name, value])));
  const reply = await checked(context, request, parameters, async (authorization, client) =>
    shown(context, await ask(context, authorization, client, visitor, requestId)),
  );
  await waited.end();
  return { ...reply, cookies: waited.cookies };
}

/** What comes of a request that is right in everything; one that is not is answered to its redirect URI, or by a page. */
async function checked(
  context: ServerContext,
  request: Request,
  parameters: Parameters,
  next: (authorization: AuthorizationRequest, client: Client) => Promise<Reply>,
): Promise<Reply> {
  const destination = await destinationOf(context, request, parameters);
  try {
    return await next(await authorizationRequest(context, destination, parameters), destination.client);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return answerReply(context, { ...destination, result: { error } }, request.method === 'POST' ? 303 : 302);
  }
}

/** The parameters that a request was checked by, as they were sent. */
function sentIn(parameters: Parameters): SentParameters {
  return ['client_id', 'redirect_uri', 'resource', ...SINGLE_PARAMETERS].flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** The parameters that would ask for the same again. */
function sentAs(asked: AuthorizationRequest): SentParameters {
  const { clientId, redirectUri, scopes, state, nonce, codeChallenge, audience } = asked;
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    resource: audience,
  };
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
}

async function shown(context: ServerContext, asked: Asked): Promise<Reply> {
  return 'answer' in asked ? answerReply(context, asked.answer, 302) : consentPage(context, asked.question);
}

/** The sign-in page, which sends the browser back with the request's id and nothing else. */
function signInUrl(context: ServerContext, requestId: string): string {
  return context.host.loginUrl(returnUrl(requestId));
}

function returnUrl(requestId: string): string {
  return `${AUTHORIZE_PATH}?request_id=${encodeURIComponent(requestId)}`;
}

function consentPage(context: ServerContext, question: Question): Promise<Reply> {
  const profile = question.user.getProfile();
  return pageReply({
    host: context.host,
    view: 'oauth/consent',
    status: 200,
    formLeadsTo: question.redirectUri,
    data: {
      serverName: context.config.name,
      clientName: question.client.name,
      person: { name: profile.name ?? null, email: profile.email ?? null },
      scopes: question.scopes.map((name) => ({ name, label: context.scopes.get(name)?.label ?? name })),
      redirectHost: new URL(question.redirectUri).host,
      requestId: question.requestId,
      csrfToken: question.csrfToken,
      action: AUTHORIZE_PATH,
    },
  });
}

/** The authorization response: to the redirect URI, with `state` unchanged and `iss` (RFC 9207). */
function answerReply(context: ServerContext, answer: Answer, status: 302 | 303): Reply {
  const { result } = answer;
  const outcome =
    'code' in result
      ? { code: result.code }
      : { error: result.error.code, error_description: result.error.message };
  const parameters = { ...outcome, state: answer.state ?? undefined, iss: context.issuer };
  const redirect = redirectReply(redirectWith(answer.redirectUri, parameters), status);
  return 'error' in result ? { ...redirect, refused: result.error } : redirect;
}

// --- the steps of checking a request, in their order ----------------------------------------------------------

/** Who asks, and where the answer goes. Until both are certain nothing is redirected (RFC 6749 section 4.1.2.1). */
async function destinationOf(
  context: ServerContext,
  request: Request,
  parameters: Parameters,
): Promise<Destination> {
  const clientId = parameters.isRepeated('client_id') ? undefined : parameters.get('client_id');
  const client = clientId === undefined ? null : await context.clients.find(clientId);
  if (client !== null) noteClient(request, client.id);
  if (client === null || client.revokedAt !== null) {
    throw new AuthorizationPageError(
      'Unknown application',
      `The link that brought you here names no application that ${context.config.name} knows.`,
      clientId === undefined
        ? 'no client_id was sent, or more than one'
        : client === null
          ? `no client has the id ${quotedClientId(clientId)}`
          : `the client ${client.id} was revoked`,
    );
  }
  const redirectUri = parameters.isRepeated('redirect_uri') ? undefined : parameters.get('redirect_uri');
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    throw new AuthorizationPageError(
      'Unregistered return address',
      `${client.name} asked to be answered at an address that it is not registered with, so you are not sent there.`,
      redirectUri === undefined
        ? `the client ${client.id} sent no redirect_uri, or more than one`
        : unregistered(client, redirectUri),
    );
  }
  const state = parameters.isRepeated('state') ? null : (parameters.get('state') ?? null);
  return { client, redirectUri, state };
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

async function authorizationRequest(
  context: ServerContext,
  { client, redirectUri, state }: Destination,
  parameters: Parameters,
): Promise<AuthorizationRequest> {
  refuseRepeated(parameters);
  refuseUnsupported(parameters);
  if (!client.grants.includes('authorization_code')) {
    throw new OAuthError(
      'unauthorized_client',
      'The client is not registered for the grant authorization_code.',
      `the client is registered for ${client.grants.join(', ')}`,
    );
  }
  return {
    clientId: client.id,
    redirectUri,
    state,
    nonce: parameters.get('nonce') ?? null,
    codeChallenge: codeChallengeOf(parameters),
    audience: resourceOf(context, parameters),
    scopes: await scopesOf(context, client, parameters),
  };
}

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

function refuseRepeated(parameters: Parameters): void {
  for (const name of SINGLE_PARAMETERS) parameters.get(name);
}

function refuseUnsupported(parameters: Parameters): void {
  if (parameters.has('request')) {
    throw new OAuthError('request_not_supported', 'Request objects are not supported.');
  }
  if (parameters.has('request_uri')) {
    throw new OAuthError('request_uri_not_supported', 'Request objects are not supported.');
  }
  if (parameters.require('response_type') !== 'code') {
    const detail = `the response_type is ${quoted(parameters.require('response_type'))}`;
    throw new OAuthError('unsupported_response_type', 'The only response_type is code.', detail);
  }
  const responseMode = parameters.get('response_mode');
  if (responseMode !== undefined && responseMode !== 'query') {
    const detail = `the response_mode is ${quoted(responseMode)}`;
    throw new OAuthError('invalid_request', 'The only response_mode is query.', detail);
  }
  refusePrompt(parameters.get('prompt'));
  if (parameters.has('max_age')) {
    throw new OAuthError(
      'invalid_request',
      'max_age cannot be honoured: the last authentication time is not recorded.',
    );
  }
}

/** OpenID Connect Core section 3.1.2.1; consent is always asked for, so `consent` is satisfied and `none` cannot be. */
function refusePrompt(prompt: string | undefined): void {
  const values = new Set((prompt ?? '').split(' ').filter((value) => value !== ''));
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
  if (values.size > 0)
    throw new OAuthError(
      'invalid_request',
      'The only values of prompt are consent and none, apart.',
      `the prompt is ${quoted(prompt ?? '')}`,
    );
}

function codeChallengeOf(parameters: Parameters): string {
  const challenge = parameters.get('code_challenge');
  if (challenge === undefined || parameters.get('code_challenge_method') !== 'S256') {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: a code_challenge with code_challenge_method=S256.',
      pkceProblem(challenge, parameters.get('code_challenge_method')),
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

function resourceOf(context: ServerContext, parameters: Parameters): string | null {
  if (parameters.isRepeated('resource')) {
    throw new OAuthError('invalid_target', 'More than one resource is named; a grant has one target.');
  }
  return requireAudience(parameters.get('resource'), context.audience);
}

async function scopesOf(
  context: ServerContext,
  client: Client,
  parameters: Parameters,
): Promise<readonly string[]> {
  const offered = client.scopes.filter((name) => context.scopes.has(name));
  const scopes = requestedScopes(parameters.get('scope')) ?? offered.filter((name) => name !== 'openid');
  if (scopes.length === 0 || !scopes.every((name) => offered.includes(name))) {
    throw new OAuthError(
      'invalid_scope',
      'The scope is empty, unknown, or not one that this client may ask for.',
      beyondScopes(scopes, offered, 'unknown, or not registered for this client'),
    );
  }
  if (scopes.includes('openid') && (await context.keys.active()) === null) {
    throw new OAuthError(
      'invalid_scope',
      'The scope openid cannot be granted: the server has no signing key.',
      `there is no signing key in ${context.config.key_path}; run oauth:server:setup`,
    );
  }
  return scopes;
}
