import { isBearerRequest } from '../../http/bearer.ts';
import { throttleLog } from '../../http/throttle-log.ts';
import { requestIdOf } from '../../http/request-id.ts';
import { noteWish, type Speaking } from '../../words/speaking.ts';
import { page, told, type PageText, type Text } from '../../words/words.ts';
import type { Accounts, Visitor } from '../accounts.ts';
import { notAccepted, notAnswerable } from '../authorization/consent-errors.ts';
import { consentPageData, type ConsentPageSurroundings } from '../authorization/consent-page.ts';
import type { Consent, Presented } from '../authorization/consent.ts';
import { notUsable, type PushedRequests } from '../authorization/pushed.ts';
import { sentParameters } from '../authorization/request-parameters.ts';
import { sentHints, type Hint } from '../authorization/sign-in-hints.ts';
import {
  sameParameters,
  type CheckedRequest,
  type PutRequest,
  type RequestChecks,
} from '../authorization/request.ts';
import { responseUrl, type AuthorizationResponse } from '../authorization/response.ts';
import type { RequestToWait, SentParameters, WaitingRequests } from '../authorization/waiting-requests.ts';
import type { SignInNotes } from '../authorization/sign-in-notes.ts';
import { destinationOf, isVerified } from '../clients/who-asks.ts';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import { ANYWHERE, pageReply, redirectReply } from '../replies/pages.ts';
import { createParameters, queryParameters, readForm, unrepeated, type Parameters } from '../parameters.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { Reply } from '../replies/responses.ts';
import type { Client } from '../store/client.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import type { BrowserPaths } from './paths.ts';

export interface AuthorizeEndpointsOptions {
  readonly checks: Pick<RequestChecks, 'check'>;
  readonly consent: Consent;
  readonly waiting: WaitingRequests;
  /** Null when the sign-in page tells of none. */
  readonly notes: Pick<SignInNotes, 'cookies'> | null;
  /** Null when no requests are pushed. */
  readonly pushed: PushedRequests | null;
  readonly accounts: Pick<Accounts, 'visitor'>;
  readonly host: Pick<CompleteHost, 'loginUrl' | 'signOut' | 'render' | 'log'>;
  readonly issuer: string;
  readonly paths: Pick<BrowserPaths, 'authorize' | 'applications'>;
  /** Where the logos of clients are; null where they have none. */
  readonly logoPath: string | null;
  /** In seconds. */
  readonly lifetimes: ConsentPageSurroundings['lifetimes'];
  readonly serverName: string;
  readonly speaking: Speaking;
  readonly scopes: ScopeCatalog;
  /** Whether proofs of DPoP are taken. */
  readonly takesDpop: boolean;
  /** Those that somebody reads: no others are kept. */
  readonly hints: readonly Hint[];
  readonly profiles: Pick<Profiles, 'isServers' | 'governs'>;
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

interface PageWithLink {
  readonly text: PageText;
  readonly status: number;
  readonly link: { readonly href: string; readonly text: Text };
}

/** The buttons of the consent screen; `switch` is "Not you?". */
const DECISIONS: ReadonlySet<string> = new Set(['allow', 'deny', 'switch']);

export function createAuthorizeEndpoints(options: AuthorizeEndpointsOptions): AuthorizeEndpoints {
  const { checks, consent, waiting, notes, pushed, accounts, host, issuer, paths, serverName } = options;
  const { scopes: catalog, speaking, profiles, takesDpop, hints } = options;
  const returnPath = (requestId: string) => `${paths.authorize}?request_id=${encodeURIComponent(requestId)}`;

  /** Of what is answered to GET; the profile fapi2 recommends 303. */
  const statusFor = (client: Client | null) =>
    (client === null ? profiles.isServers : profiles.governs(client)) ? 303 : 302;

  function toWait(
    { parameters, pushed: wasPushed }: PutRequest,
    requestId: string | undefined,
  ): RequestToWait {
    const sent = sentParameters(parameters, { takesDpop, hints });
    return { sent, pushed: wasPushed, ...(requestId === undefined ? {} : { requestId }) };
  }

  const warnOfNobody = throttleLog((times) =>
    host.log.warning(
      'Somebody came back from signing in, and signedIn() found nobody ({times}). If it is so for everybody: is portico() mounted ' +
        'behind the session, and is the cookie of the session sent to {path}?',
      { times, path: paths.authorize },
    ),
  );

  async function newRequest(request: Request, put: PutRequest, requestId?: string): Promise<Reply> {
    noteSent(request, sentHints(put.parameters, hints));
    const checked = await checks.check(put, request, null);
    if ('response' in checked && isVerified(checked.response.client)) {
      return spent(put, requestId, await respond(request, checked.response));
    }
    // Nobody is led to a client that anybody may have made, unless somebody is signed in (RFC 9700 section 4.11.2).
    const visitor = await accounts.visitor(request);
    if (visitor === null) return signIn(request, toWait(put, requestId), clientOf(checked));
    if ('signInFirst' in checked) return begin(put, visitor, requestId);
    return spent(
      put,
      requestId,
      'response' in checked
        ? await respond(request, checked.response)
        : await show(request, await consent.beginConsent(checked.asked, checked.client, visitor, requestId)),
    );
  }

  /** The reply, once what was pushed is gone that it answers. */
  async function spent(put: PutRequest, requestId: string | undefined, reply: Reply): Promise<Reply> {
    if (put.pushed && requestId !== undefined) await pushed?.end(requestId);
    return reply;
  }

  /**
   * A request in a form comes from another site's page, so the browser leaves its session cookie out. Who is signed in shows
   * when it follows the redirect, with the request's id.
   */
  async function postedRequest(request: Request, put: PutRequest, requestId?: string): Promise<Reply> {
    noteSent(request, sentHints(put.parameters, hints));
    const checked = await checks.check(put, request, null);
    if ('response' in checked && isVerified(checked.response.client)) {
      return spent(put, requestId, await respond(request, checked.response, 303));
    }
    const begun = await waiting.begin(request, toWait(put, requestId));
    return { ...redirectReply(returnPath(begun.requestId), 303), cookies: begun.cookies };
  }

  function putRequest(request: Request, parameters: Parameters, put: typeof newRequest): Promise<Reply> {
    const requestId = pushed?.idOf(parameters) ?? null;
    return requestId === null
      ? put(request, { parameters, pushed: false })
      : pushedRequest(request, requestId, put);
  }

  /**
   * A request that its client pushed. It is loaded as often as a browser asks, until it is put to somebody who is signed in: then the question
   * has its id, is this person's in this browser, and is shown again here alone (RFC 9126 section 4).
   */
  async function pushedRequest(request: Request, requestId: string, put: typeof newRequest): Promise<Reply> {
    const presented = await presentedBefore(request, requestId);
    if (presented !== null) return presented;
    const sent = (await pushed?.find(requestId)) ?? null;
    if (sent !== null) return put(request, { parameters: parametersOf(sent), pushed: true }, requestId);
    // It was put to somebody at this moment, or the person reloads the page that they were sent to sign in from.
    const meanwhile = await presentedBefore(request, requestId);
    if (meanwhile !== null) return meanwhile;
    if ((await waiting.find(request, requestId)) !== null) return redirectReply(returnPath(requestId), 303);
    throw notUsable("it has expired, was used, is another client's, or never was");
  }

  async function presentedBefore(request: Request, requestId: string): Promise<Reply | null> {
    const visitor = await accounts.visitor(request);
    const presented = visitor === null ? null : await consent.presentConsent(requestId, visitor);
    return presented === null ? null : show(request, presented);
  }

  /** Back from signing in: a request that was shown before is presented again, one that waited begins now. */
  async function returningRequest(request: Request, requestId: string): Promise<Reply> {
    const visitor = await accounts.visitor(request);
    if (visitor === null) {
      const cookies = await waiting.removeSurplus(request, requestId);
      // A page of this host sent the browser back, and no other site's form.
      if (request.headers.get('sec-fetch-site') === 'same-origin') warnOfNobody();
      const loginUrl = host.loginUrl(returnPath(requestId));
      const waited = notes === null ? null : await waiting.find(request, requestId);
      noteSent(request, waited?.sent);
      const words = await speaking.of(request);
      const noted =
        waited === null
          ? []
          : await notes?.cookies({ loginUrl, requestId, sent: waited.sent, client: null, words });
      return { ...redirectReply(loginUrl, statusFor(null)), cookies: [...cookies, ...(noted ?? [])] };
    }
    const presented = await consent.presentConsent(requestId, visitor);
    if (presented !== null) return show(request, presented);
    const waited = await waiting.find(request, requestId);
    if (waited !== null) {
      noteSent(request, waited.sent);
      // Checked again, as if it came now: clients and scopes may have changed while it waited.
      const put = { parameters: parametersOf(waited.sent), pushed: waited.pushed };
      const reply = await begin(put, visitor, requestId);
      await waited.end();
      return { ...reply, cookies: waited.cookies };
    }
    // The same page was opened twice at once, and the other was quicker: it is saved by now, and no longer waits.
    const meanwhile = await consent.presentConsent(requestId, visitor);
    if (meanwhile !== null) return show(request, meanwhile);
    throw notAnswerable('it is unknown, or waited too long, or in another browser');
  }

  /** Puts the request to somebody who is signed in. */
  async function begin(put: PutRequest, visitor: Visitor, requestId?: string): Promise<Reply> {
    const checked = await checks.check(put, visitor.request, visitor.user.reference);
    if ('signInFirst' in checked) throw new Error('Somebody is signed in already');
    return spent(
      put,
      requestId,
      'response' in checked
        ? await respond(visitor.request, checked.response)
        : await show(
            visitor.request,
            await consent.beginConsent(checked.asked, checked.client, visitor, requestId),
          ),
    );
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
    // Whatever was answered: who answered was told where the answer goes.
    return redirect(await consent.completeConsent(requestId, visitor, decision === 'allow'), 303);
  }

  /** Ends the request and the session, and asks the same of whoever signs in next (AS-8.6). */
  async function switchPerson(requestId: string, visitor: Visitor): Promise<Reply> {
    const pending = await consent.requirePending(requestId, visitor);
    const begun = await waiting.begin(visitor.request, {
      sent: sameParameters(pending),
      pushed: pending.pushed === true,
    });
    const returnTo = returnPath(begun.requestId);
    await consent.voidConsent(pending);
    const next = await host.signOut(visitor.request, returnTo);
    const reply = next === null ? await signOutYourself(visitor, returnTo) : redirectReply(next, 303);
    return { ...reply, cookies: begun.cookies };
  }

  /** For a host that says nothing of signing out: the person does, and comes back. */
  function signOutYourself({ request }: Visitor, returnTo: string): Promise<Reply> {
    return pageWithLink(request, {
      text: page('error.sign_out_first', { server: serverName }),
      status: 200,
      link: { href: returnTo, text: { key: 'error.sign_out_first.link' } },
    });
  }

  /** The request waits, and the browser goes to sign in. */
  async function signIn(request: Request, waits: RequestToWait, client: Client | null): Promise<Reply> {
    const { requestId, cookies } = await waiting.begin(request, waits);
    const loginUrl = host.loginUrl(returnPath(requestId));
    const words = await speaking.of(request);
    const noted = (await notes?.cookies({ loginUrl, requestId, sent: waits.sent, client, words })) ?? [];
    return { ...redirectReply(loginUrl, statusFor(client)), cookies: [...cookies, ...noted] };
  }

  async function show(request: Request, presented: Presented): Promise<Reply> {
    if ('response' in presented) return respond(request, presented.response);
    const { question } = presented;
    const words = await speaking.of(request);
    const server = {
      serverName,
      catalog,
      action: paths.authorize,
      applicationsPath: speaking.withWish(request, paths.applications),
      logoPath: options.logoPath,
      lifetimes: options.lifetimes,
    };
    return pageReply({
      host,
      speaking,
      words,
      view: 'oauth/consent',
      status: 200,
      data: { ...consentPageData(question, server, words) },
      formLeadsTo: ANYWHERE,
    });
  }

  async function respond(
    request: Request,
    response: AuthorizationResponse,
    status: 302 | 303 = statusFor(response.client),
  ): Promise<Reply> {
    const { result } = response;
    return 'error' in result && leadsAnywhere(response)
      ? { ...(await wayBack(request, response)), refused: result.error }
      : redirect(response, status);
  }

  function redirect(response: AuthorizationResponse, status: 302 | 303): Reply {
    const { result } = response;
    const reply = redirectReply(responseUrl(response, issuer), status);
    return 'error' in result ? { ...reply, refused: result.error } : reply;
  }

  /** Whether an error that nobody was asked about would lead to a site that anybody may have named, so to any site. */
  function leadsAnywhere({ client, redirectUri }: AuthorizationResponse): boolean {
    return !isVerified(client) && destinationOf(redirectUri).kind === 'site';
  }

  /** The person decides whether to go there (RFC 9700 section 4.11.2). */
  function wayBack(request: Request, response: AuthorizationResponse): Promise<Reply> {
    const site = destinationOf(response.redirectUri).text;
    return pageWithLink(request, {
      text: page('error.nothing_shared', { host: site, server: serverName }),
      status: 400,
      link: {
        href: responseUrl(response, issuer),
        text: { key: 'error.nothing_shared.link', values: { host: site } },
      },
    });
  }

  async function pageWithLink(request: Request, { text, status, link }: PageWithLink): Promise<Reply> {
    const words = await speaking.of(request);
    const data = {
      serverName,
      title: told(words, text.title),
      message: told(words, text.message),
      status,
      link: { href: link.href, text: told(words, link.text) },
      requestId: requestIdOf(request),
      detail: null,
    };
    return pageReply({ host, speaking, words, view: 'oauth/error', status, data, formLeadsTo: null });
  }

  return {
    async authorize(request) {
      refuseBearer(request, takesDpop);
      const parameters = queryParameters(request);
      const requestId = returningRequestId(parameters);
      return requestId === null
        ? putRequest(request, parameters, newRequest)
        : returningRequest(request, requestId);
    },
    async consent(request) {
      refuseBearer(request, takesDpop);
      const form = await readForm(request);
      const parameters = createParameters(form);
      if (!parameters.has('client_id')) return answer(request, unrepeated(form));
      if (parameters.has('request_id')) throw bothAtOnce();
      return putRequest(request, parameters, postedRequest);
    },
  };
}

/** The languages that were asked for when the request came. */
function noteSent(request: Request, sent: SentParameters = []): void {
  const wish = sent.find(([name]) => name === 'ui_locales')?.[1];
  if (wish !== undefined) noteWish(request, wish.split(' '));
}

function parametersOf(sent: SentParameters): Parameters {
  return createParameters(new URLSearchParams(sent.map(([name, value]) => [name, value])));
}

function clientOf(checked: CheckedRequest): Client | null {
  if ('client' in checked) return checked.client;
  return 'response' in checked ? checked.response.client : null;
}

/** Consent is a browser session's, which a request with an access token never has. */
function refuseBearer(request: Request, takesDpop: boolean): void {
  if (isBearerRequest(request, takesDpop)) {
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
    page('error.not_signed_in'),
    'nobody is signed in in the session that the answer came with',
  );
}

function bothAtOnce(): AuthorizationPageError {
  return new AuthorizationPageError(page('error.not_clear'), 'a form with a client_id and a request_id');
}
