import { isBearerRequest } from '../../http/bearer.ts';
import { occasionally } from '../../http/occasionally.ts';
import { requestIdOf } from '../../http/request-id.ts';
import type { Accounts, Visitor } from '../accounts.ts';
import { notAccepted, notAnswerable } from '../authorization/consent-errors.ts';
import { consentPageData } from '../authorization/consent-page.ts';
import type { Consent, Presented } from '../authorization/consent.ts';
import { sameParameters, sentParameters, type CheckRequest } from '../authorization/request.ts';
import { responseUrl, type AuthorizationResponse } from '../authorization/response.ts';
import type { SentParameters, WaitingRequests } from '../authorization/waiting.ts';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import { pageReply, redirectReply } from '../replies/pages.ts';
import { createParameters, queryParameters, readForm, unrepeated, type Parameters } from '../parameters.ts';
import type { Reply } from '../replies/responses.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import type { BrowserPaths } from './paths.ts';

export interface AuthorizeEndpointsOptions {
  readonly checkRequest: CheckRequest;
  readonly consent: Consent;
  readonly waiting: WaitingRequests;
  readonly accounts: Pick<Accounts, 'visitor'>;
  readonly host: Pick<CompleteHost, 'loginUrl' | 'signOut' | 'render' | 'log'>;
  readonly issuer: string;
  readonly paths: Pick<BrowserPaths, 'authorize'>;
  readonly serverName: string;
  readonly scopes: ScopeCatalog;
}

export interface AuthorizeEndpoints {
  /**
   * GET /oauth/authorize: checks a request and shows it to the person who is signed in. If nobody is, it waits, and the person
   * signs in and comes back with the request's id alone.
   */
  readonly authorize: (request: Request) => Promise<Reply>;
  /** POST /oauth/authorize: the person's answer on the consent screen, or a request, which names a client (AS-7.11). */
  readonly consent: (request: Request) => Promise<Reply>;
}

/** The buttons of the consent screen; `switch` is "Not you?". */
const DECISIONS: ReadonlySet<string> = new Set(['allow', 'deny', 'switch']);

export function createAuthorizeEndpoints(options: AuthorizeEndpointsOptions): AuthorizeEndpoints {
  const { checkRequest, consent, waiting, accounts, host, issuer, paths, serverName } = options;
  const { scopes: catalog } = options;
  const returnPath = (requestId: string) => `${paths.authorize}?request_id=${encodeURIComponent(requestId)}`;

  const warnOfNobody = occasionally((times) =>
    host.log.warning(
      'Somebody came back from signing in, and signedIn() found nobody ({times}). If it is so for everybody: is portico() mounted ' +
        'behind the session, and is the cookie of the session sent to {path}?',
      { times, path: paths.authorize },
    ),
  );

  async function newRequest(request: Request, parameters: Parameters): Promise<Reply> {
    const checked = await checkRequest(parameters, request);
    if ('response' in checked) return respond(checked.response, 302);
    const visitor = await accounts.visitor(request);
    return visitor === null
      ? signIn(request, sentParameters(parameters), 302)
      : show(await consent.beginConsent(checked.asked, checked.client, visitor));
  }

  /**
   * A request in a form comes from another site's page, so the browser leaves its session cookie out. Who is signed in shows
   * when it follows the redirect, with the request's id.
   */
  async function postedRequest(request: Request, parameters: Parameters): Promise<Reply> {
    const checked = await checkRequest(parameters, request);
    if ('response' in checked) return respond(checked.response, 303);
    const { requestId, cookies } = await waiting.begin(request, sentParameters(parameters));
    return { ...redirectReply(returnPath(requestId), 303), cookies };
  }

  /** Back from signing in: a request that was shown before is presented again, one that waited begins now. */
  async function returningRequest(request: Request, requestId: string): Promise<Reply> {
    const visitor = await accounts.visitor(request);
    if (visitor === null) {
      const cookies = await waiting.removeSurplus(request, requestId);
      // A page of this host sent the browser back, and no other site's form.
      if (request.headers.get('sec-fetch-site') === 'same-origin') warnOfNobody();
      return { ...redirectReply(host.loginUrl(returnPath(requestId)), 302), cookies };
    }
    const presented = await consent.presentConsent(requestId, visitor);
    if (presented !== null) return show(presented);
    const waited = await waiting.find(request, requestId);
    if (waited !== null) {
      const reply = await waitedRequest(request, requestId, waited.sent, visitor);
      await waited.end();
      return { ...reply, cookies: waited.cookies };
    }
    // The same page was opened twice at once, and the other was quicker: it is saved by now, and no longer waits.
    const meanwhile = await consent.presentConsent(requestId, visitor);
    if (meanwhile !== null) return show(meanwhile);
    throw notAnswerable('it is unknown, or waited too long, or in another browser');
  }

  /** Checked again, as if it came now: clients and scopes may have changed while it waited. */
  async function waitedRequest(
    request: Request,
    requestId: string,
    sent: SentParameters,
    visitor: Visitor,
  ): Promise<Reply> {
    const parameters = createParameters(new URLSearchParams(sent.map(([name, value]) => [name, value])));
    const checked = await checkRequest(parameters, request);
    return 'response' in checked
      ? respond(checked.response, 302)
      : show(await consent.beginConsent(checked.asked, checked.client, visitor, requestId));
  }

  async function answer(request: Request, form: Parameters): Promise<Reply> {
    const requestId = form.get('request_id');
    const csrfToken = form.get('csrf_token');
    const decision = form.get('decision') ?? '';
    const visitor = await accounts.visitor(request);
    if (visitor === null) throw notSignedIn();
    if (requestId === undefined || csrfToken === undefined || !DECISIONS.has(decision)) {
      throw notAccepted('the form lacks request_id, csrf_token or a decision that is known');
    }
    await consent.requireCsrfToken(requestId, visitor, csrfToken);
    if (decision === 'switch') return switchPerson(requestId, visitor);
    return respond(await consent.completeConsent(requestId, visitor, decision === 'allow'), 303);
  }

  /** Ends the request and the session, and asks the same of whoever signs in next (AS-8.6). */
  async function switchPerson(requestId: string, visitor: Visitor): Promise<Reply> {
    const pending = await consent.requirePending(requestId, visitor);
    const begun = await waiting.begin(visitor.request, sameParameters(pending));
    const returnTo = returnPath(begun.requestId);
    await consent.voidConsent(pending);
    const next = await host.signOut(visitor.request, returnTo);
    const reply = next === null ? await signOutYourself(visitor, returnTo) : redirectReply(next, 303);
    return { ...reply, cookies: begun.cookies };
  }

  /** For a host that says nothing of signing out: the person does, and comes back. */
  function signOutYourself({ request }: Visitor, returnTo: string): Promise<Reply> {
    const data = {
      serverName,
      title: `Sign out of ${serverName} first`,
      message:
        'That question has ended, and nothing was shared. Sign out in another tab, then go on here and sign in as yourself.',
      status: 200,
      requestId: requestIdOf(request),
      detail: null,
      link: { href: returnTo, text: 'Go on as somebody else' },
    };
    return pageReply({ host, view: 'oauth/error', status: 200, data, formLeadsTo: null });
  }

  /** The request waits, and the browser goes to sign in. */
  async function signIn(request: Request, sent: SentParameters, status: 302 | 303): Promise<Reply> {
    const { requestId, cookies } = await waiting.begin(request, sent);
    return { ...redirectReply(host.loginUrl(returnPath(requestId)), status), cookies };
  }

  async function show(presented: Presented): Promise<Reply> {
    if ('response' in presented) return respond(presented.response, 302);
    const { question } = presented;
    const data = consentPageData(question, { serverName, catalog, action: paths.authorize });
    return pageReply({ host, view: 'oauth/consent', status: 200, data, formLeadsTo: question.redirectUri });
  }

  function respond(response: AuthorizationResponse, status: 302 | 303): Reply {
    const { result } = response;
    const redirect = redirectReply(responseUrl(response, issuer), status);
    return 'error' in result ? { ...redirect, refused: result.error } : redirect;
  }

  return {
    async authorize(request) {
      refuseBearer(request);
      const parameters = queryParameters(request);
      const requestId = returningRequestId(parameters);
      return requestId === null ? newRequest(request, parameters) : returningRequest(request, requestId);
    },
    async consent(request) {
      refuseBearer(request);
      const form = await readForm(request);
      const parameters = createParameters(form);
      if (!parameters.has('client_id')) return answer(request, unrepeated(form));
      if (parameters.has('request_id')) throw bothAtOnce();
      return postedRequest(request, parameters);
    },
  };
}

/** Consent is a browser session's, which a request with an access token never has. */
function refuseBearer(request: Request): void {
  if (isBearerRequest(request)) {
    throw new OAuthError('invalid_request', 'The authorization endpoint takes no access token.');
  }
}

/** Back from signing in, the browser sends the id of a request, and no client. */
function returningRequestId(parameters: Parameters): string | null {
  return parameters.has('client_id') || parameters.isRepeated('request_id')
    ? null
    : (parameters.get('request_id') ?? null);
}

function notSignedIn(): AuthorizationPageError {
  return new AuthorizationPageError(
    'You are not signed in',
    'The answer was not taken. Go back to the application and start again.',
    'nobody is signed in in the session that the answer came with',
  );
}

function bothAtOnce(): AuthorizationPageError {
  return new AuthorizationPageError(
    'This request is not clear',
    'It is a question and an answer at once. Go back to the application and start again.',
    'a form with a client_id and a request_id',
  );
}
