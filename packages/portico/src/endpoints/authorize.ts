import { throttleLog } from '../http/throttle-log.ts';
import { noteWish } from '../words/speaking.ts';
import { page } from '../words/words.ts';
import type { Visitor } from '../accounts.ts';
import { notAccepted, notAnswerable } from '../authorization/consent-errors.ts';
import { notSignedInSilently, notSilent } from '../authorization/silent-requests.ts';
import { Consent } from '../authorization/consent.ts';
import { notUsable } from '../authorization/direct-requests.ts';
import type { HostPage, Received } from '../authorization/interaction.ts';
import { refuseBearer } from '../authorization/refuse-bearer.ts';
import { responseTo } from '../authorization/response.ts';
import { hintsRead, sentHints, type Hint } from '../authorization/sign-in-hints.ts';
import {
  RequestChecks,
  sameParameters,
  type CheckedRequest,
  type PutRequest,
} from '../authorization/request.ts';
import {
  WaitingRequests,
  type RequestToWait,
  type SentParameters,
} from '../authorization/waiting-requests.ts';
import { SignInNotes } from '../authorization/sign-in-notes.ts';
import type { Clients } from '../clients/clients.ts';
import type { LastUse } from '../clients/last-use.ts';
import { isVerified } from '../clients/who-asks.ts';
import type { WaitingFor, WithHeaders } from '../authorization/waiting-for.ts';
import { AuthorizationPageError } from '../errors.ts';
import { redirectReply } from '../replies/pages.ts';
import {
  createParameters,
  queryParameters,
  readForm,
  unrepeated,
  type Parameters,
} from '../parameters.ts';
import type { Reply } from '../replies/responses.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';
import { AuthorizeReplies, type SendingAdditions } from './authorize-replies.ts';

/** The buttons on the consent screen. `switch` is the button "Not you?". */
const DECISIONS: ReadonlySet<string> = new Set(['allow', 'deny', 'switch']);

/** Continues a request: one that the browser sent, or one that the client sent directly. */
type Put = (request: Request, put: PutRequest, requestId?: string) => Promise<Reply>;

/** GET and POST /oauth/authorize. */
export class AuthorizeEndpoint {
  readonly checks: RequestChecks;
  readonly #server: Server;
  readonly #additions: SendingAdditions;
  readonly #consent: Consent;
  readonly #waiting: WaitingRequests;
  /** Null if the sign-in page shows no data about the request. */
  readonly #notes: SignInNotes | null;
  readonly #replies: AuthorizeReplies;
  readonly #hints: readonly Hint[];
  readonly #warnOfNoSession: () => void;

  constructor(
    server: Server,
    clients: Clients,
    additions: SendingAdditions,
    resources: ProtectedResources,
    lastUse: LastUse,
  ) {
    const { host, paths } = server;
    this.#server = server;
    this.#additions = additions;
    this.checks = new RequestChecks(server, clients, additions);
    this.#consent = new Consent(server, clients, additions, resources, lastUse);
    this.#waiting = new WaitingRequests(server);
    this.#notes = host.tellsWhoWaits
      ? new SignInNotes(server, clients, additions.clientSource)
      : null;
    this.#replies = new AuthorizeReplies(server, additions);
    this.#hints = hintsRead(server);
    this.#warnOfNoSession = throttleLog((times) =>
      host.log.warning(
        'A person returned from the sign-in page, but signedIn() returned null ({times}). If ' +
          'this happens to everyone, check that portico() is mounted ' +
          'after the session middleware and that the session cookie is sent to {path}',
        { times, path: paths.authorize },
      ),
    );
  }

  /**
   * Handles GET. Checks a request and shows it to the signed-in person. If no person is signed in,
   * stores the request and redirects to sign-in. The person then comes back with the request's id.
   */
  readonly get = async (request: Request): Promise<Reply> => {
    refuseBearer(request, this.#additions.binding, 'The authorization endpoint');
    const parameters = queryParameters(request);
    const requestId = returningRequestId(parameters);
    return requestId === null
      ? this.#putRequest(request, parameters, this.#newRequest.bind(this))
      : this.#returningRequest(request, requestId);
  };

  /**
   * Handles POST: the person's answer on the consent screen. If the form has a `client_id`, it is
   * an authorization request (AS-7.11).
   */
  readonly post = async (request: Request): Promise<Reply> => {
    refuseBearer(request, this.#additions.binding, 'The authorization endpoint');
    const form = await readForm(request);
    const parameters = createParameters(form);
    if (!parameters.has('client_id')) return this.#answer(request, unrepeated(form));
    if (parameters.has('request_id')) throw bothAtOnce();
    return this.#putRequest(request, parameters, this.#postedRequest.bind(this));
  };

  /** See `AuthorizationServer.waitingFor`. */
  async waitingFor(
    request: WithHeaders,
    returnTo: string | null | undefined,
  ): Promise<WaitingFor | null> {
    if (this.#notes !== null) return this.#notes.find(request, returnTo);
    throw new Error('waitingFor() needs tellsWhoWaits: true in the host');
  }

  #putRequest(request: Request, parameters: Parameters, put: Put): Promise<Reply> {
    const requestId = this.#additions.directRequests?.idOf(parameters) ?? null;
    return requestId === null
      ? put(request, { parameters, direct: false })
      : this.#directRequest(request, requestId, put);
  }

  async #newRequest(request: Request, put: PutRequest, requestId?: string): Promise<Reply> {
    noteSent(request, sentHints(put.parameters, this.#hints));
    const checked = await this.checks.check(put, request, null);
    if ('response' in checked && isVerified(checked.response.client)) {
      return this.#spent(put, requestId, await this.#replies.response(request, checked.response));
    }
    // If no operator registered the client, redirect to it only after a person has signed in (RFC
    // 9700 section 4.11.2).
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null && isSilent(checked)) {
      const response = notSignedInSilently(checked.asked, checked.client);
      return this.#spent(put, requestId, await this.#replies.response(request, response));
    }
    if (visitor === null)
      return this.#signIn(request, this.#toWait(put, requestId), findClient(checked));
    if ('signInFirst' in checked) return this.#begin(put, visitor, requestId);
    return this.#show(checked, put, visitor, requestId);
  }

  /**
   * Handles a form from another site's page. The browser sends no session cookie with this form. So
   * redirect the browser with the request's id: the browser sends the cookie with that request.
   */
  async #postedRequest(request: Request, put: PutRequest, requestId?: string): Promise<Reply> {
    noteSent(request, sentHints(put.parameters, this.#hints));
    const checked = await this.checks.check(put, request, null);
    if ('response' in checked && isVerified(checked.response.client)) {
      return this.#spent(
        put,
        requestId,
        await this.#replies.response(request, checked.response, 303),
      );
    }
    // Without the session cookie, no one can be recognized silently.
    if (isSilent(checked)) {
      const response = notSilent(checked.asked, checked.client);
      return this.#spent(put, requestId, await this.#replies.response(request, response, 303));
    }
    const begun = await this.#waiting.begin(request, this.#toWait(put, requestId));
    return { ...redirectReply(this.#returnPath(begun.requestId), 303), cookies: begun.cookies };
  }

  /**
   * Handles a request that the client sent directly. Until a signed-in person sees it, a browser
   * can load it any number of times. After that, the consent request has this id, and only this
   * person in this browser can see it (RFC 9126 section 4).
   */
  async #directRequest(request: Request, requestId: string, put: Put): Promise<Reply> {
    const presented = await this.#presentedBefore(request, requestId);
    if (presented !== null) return presented;
    const sent = (await this.#additions.directRequests?.find(requestId)) ?? null;
    if (sent !== null) {
      const received = await this.#receivedBefore(request, requestId);
      return put(request, { parameters: readParameters(sent), direct: true, received }, requestId);
    }
    // Another tab has just shown the request, or the person has reloaded the page that led to
    // sign-in.
    const meanwhile = await this.#presentedBefore(request, requestId);
    if (meanwhile !== null) return meanwhile;
    if ((await this.#waiting.find(request, requestId)) !== null)
      return redirectReply(this.#returnPath(requestId), 303);
    throw notUsable("it has expired, was used, is another client's, or never was");
  }

  /** Returns when this browser first brought the request, if a feature needs to know it. */
  async #receivedBefore(request: Request, requestId: string): Promise<Received | undefined> {
    if (this.#additions.interaction === null) return undefined;
    const waited = await this.#waiting.find(request, requestId);
    return waited === null ? undefined : { ...waited.received, isBack: false };
  }

  async #presentedBefore(request: Request, requestId: string): Promise<Reply | null> {
    const visitor = await this.#server.accounts.visitor(request);
    const presented = visitor === null ? null : await this.#consent.present(requestId, visitor);
    return presented === null ? null : this.#replies.presented(request, presented);
  }

  /**
   * Handles the return from sign-in. If the request was shown before, shows it again. Otherwise,
   * starts the waiting request.
   */
  async #returningRequest(request: Request, requestId: string): Promise<Reply> {
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) return this.#signInAgain(request, requestId);
    const presented = await this.#consent.present(requestId, visitor);
    if (presented !== null) return this.#replies.presented(request, presented);
    const waited = await this.#waiting.find(request, requestId);
    if (waited !== null) {
      noteSent(request, waited.sent);
      // Check the request again, because clients and scopes may have changed while the request
      // waited.
      const { sent, direct, received } = waited;
      const put = { parameters: readParameters(sent), direct, received };
      const reply = await this.#begin(put, visitor, requestId);
      await waited.end();
      // If the person goes to a page of the host, the request waits again, in a new cookie.
      return { ...reply, cookies: reply.cookies ?? waited.cookies };
    }
    // Another tab opened the page at the same time and was faster. The request is already saved,
    // and does not wait any more.
    const meanwhile = await this.#consent.present(requestId, visitor);
    if (meanwhile !== null) return this.#replies.presented(request, meanwhile);
    throw notAnswerable('it is unknown, or waited too long, or in another browser');
  }

  /** Handles a person who came back without a session. */
  async #signInAgain(request: Request, requestId: string): Promise<Reply> {
    const { host } = this.#server;
    const notes = this.#notes;
    const cookies = await this.#waiting.removeSurplus(request, requestId);
    // A page of this host sent the browser back. So this is not a form from another site.
    if (request.headers.get('sec-fetch-site') === 'same-origin') this.#warnOfNoSession();
    const loginUrl = host.loginUrl(this.#returnPath(requestId));
    const waited = notes === null ? null : await this.#waiting.find(request, requestId);
    noteSent(request, waited?.sent);
    const words = await this.#replies.words(request);
    const noted =
      waited === null
        ? []
        : await notes?.cookies({ loginUrl, requestId, sent: waited.sent, client: null, words });
    return {
      ...redirectReply(loginUrl, this.#replies.redirectStatus(null)),
      cookies: [...cookies, ...(noted ?? [])],
    };
  }

  /** Checks the request for a signed-in person and shows it to them. */
  async #begin(put: PutRequest, visitor: Visitor, requestId?: string): Promise<Reply> {
    const checked = await this.checks.check(put, visitor.request, visitor.user.reference);
    if ('signInFirst' in checked) throw new Error('A person is signed in already');
    return this.#show(checked, put, visitor, requestId);
  }

  /** Shows the consent page for a checked request, or sends its error response. */
  async #show(
    checked: Exclude<CheckedRequest, { readonly signInFirst: true }>,
    put: PutRequest,
    visitor: Visitor,
    requestId: string | undefined,
  ): Promise<Reply> {
    const { request } = visitor;
    if ('response' in checked)
      return this.#spent(put, requestId, await this.#replies.response(request, checked.response));
    const { asked, client } = checked;
    const step = await this.#nextStep(asked, put, request);
    if ('page' in step && asked.silent === true) {
      const response = notSignedInSilently(asked, client);
      return this.#spent(put, requestId, await this.#replies.response(request, response));
    }
    // The request is not spent: the person comes back with it.
    if ('page' in step) {
      const received = { receivedAt: step.receivedAt, isBack: true };
      return this.#sendTo(
        step.page,
        request,
        { ...this.#toWait(put, requestId), received },
        client,
      );
    }
    const presented =
      'refusal' in step
        ? { response: responseTo(asked, client, { error: step.refusal }) }
        : await this.#consent.begin(asked, client, visitor, { requestId, details: step.details });
    return this.#spent(put, requestId, await this.#replies.presented(request, presented));
  }

  /**
   * Decides whether the person must go to a page of the host before they see the consent screen.
   */
  async #nextStep(asked: AuthorizationRequest, { received }: PutRequest, request: Request) {
    const { receivedAt, isBack } = received ?? { receivedAt: this.#server.clock(), isBack: false };
    const step = await this.#additions.interaction?.next(asked, { request, receivedAt, isBack });
    return step === undefined ? NO_INTERACTION : 'page' in step ? { ...step, receivedAt } : step;
  }

  async #answer(request: Request, form: Parameters): Promise<Reply> {
    const requestId = form.get('request_id');
    const csrfToken = form.get('csrf_token');
    const decision = form.get('decision') ?? '';
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) throw notSignedIn();
    if (requestId === undefined || csrfToken === undefined || !DECISIONS.has(decision)) {
      throw notAccepted('the form lacks request_id, csrf_token or a decision that is known');
    }
    await this.#consent.requireCsrfToken(requestId, visitor, csrfToken);
    if (decision === 'switch') return this.#switchPerson(requestId, visitor);
    // The page showed where both answers lead, so no other page asks the person again.
    const isChecked = (name: string) => form.get(`scope.${name}`) !== undefined;
    const completed = await this.#consent.complete(
      requestId,
      visitor,
      decision === 'allow',
      isChecked,
    );
    if ('page' in completed) return this.#sendAgain(completed.page, completed.pending, request);
    return this.#replies.send(request, completed.response, 303);
  }

  /**
   * Sends the person to a page of the host instead of the client, and ends the consent request. The
   * authorization request waits in the browser under another id, and begins again when the person
   * comes back.
   */
  async #sendAgain(page: HostPage, pending: ConsentRequest, request: Request): Promise<Reply> {
    const received = { receivedAt: this.#server.clock(), isBack: true };
    const reply = await this.#sendTo(
      page,
      request,
      { ...this.#sameRequest(pending), received },
      null,
    );
    await this.#consent.end(pending);
    return { ...reply, status: 303 };
  }

  /** Returns the request that the person saw, so that it can wait and begin again. */
  #sameRequest(pending: ConsentRequest): RequestToWait {
    return {
      sent: sameParameters(pending, this.#additions.binding?.parameter ?? null),
      direct: pending.direct === true,
    };
  }

  /**
   * Ends the consent request and the session. The next person who signs in sees the same consent
   * screen (AS-8.6).
   */
  async #switchPerson(requestId: string, visitor: Visitor): Promise<Reply> {
    const { host } = this.#server;
    const pending = await this.#consent.requirePending(requestId, visitor);
    const begun = await this.#waiting.begin(visitor.request, this.#sameRequest(pending));
    const returnTo = this.#returnPath(begun.requestId);
    await this.#consent.end(pending);
    const next = await host.signOut(visitor.request, returnTo);
    const reply =
      next === null
        ? await this.#replies.signOutFirst(visitor.request, returnTo)
        : redirectReply(next, 303);
    return { ...reply, cookies: begun.cookies };
  }

  /** Stores the request and redirects the browser to the sign-in page. */
  #signIn(request: Request, waits: RequestToWait, client: Client | null): Promise<Reply> {
    const { host } = this.#server;
    return this.#sendTo((returnTo) => host.loginUrl(returnTo), request, waits, client);
  }

  /** Stores the request and redirects the browser to a page of the host. */
  async #sendTo(
    page: HostPage,
    request: Request,
    waits: RequestToWait,
    client: Client | null,
  ): Promise<Reply> {
    const notes = this.#notes;
    const { requestId, cookies } = await this.#waiting.begin(request, waits);
    const loginUrl = page(this.#returnPath(requestId));
    const words = await this.#replies.words(request);
    const noted =
      (await notes?.cookies({ loginUrl, requestId, sent: waits.sent, client, words })) ?? [];
    return {
      ...redirectReply(loginUrl, this.#replies.redirectStatus(client)),
      cookies: [...cookies, ...noted],
    };
  }

  /** Ends the direct request, and then returns the reply. */
  async #spent(put: PutRequest, requestId: string | undefined, reply: Reply): Promise<Reply> {
    if (put.direct && requestId !== undefined) await this.#additions.directRequests?.end(requestId);
    return reply;
  }

  #toWait(
    { parameters, direct, received }: PutRequest,
    requestId: string | undefined,
  ): RequestToWait {
    const sent = this.checks.kept(parameters);
    return { sent, direct, received, ...(requestId === undefined ? {} : { requestId }) };
  }

  #returnPath(requestId: string): string {
    return `${this.#server.paths.authorize}?request_id=${encodeURIComponent(requestId)}`;
  }
}

const NO_INTERACTION = { details: undefined } as const;

/** Applies the languages that the original request asked for. */
function noteSent(request: Request, sent: SentParameters = []): void {
  const wish = sent.find(([name]) => name === 'ui_locales')?.[1];
  if (wish !== undefined) noteWish(request, wish.split(' '));
}

function readParameters(sent: SentParameters): Parameters {
  return createParameters(new URLSearchParams(sent.map(([name, value]) => [name, value])));
}

/** Whether the client asks for a response without any page. */
function isSilent(
  checked: CheckedRequest,
): checked is Extract<CheckedRequest, { readonly asked: unknown }> {
  return 'asked' in checked && checked.asked.silent === true;
}

function findClient(checked: CheckedRequest): Client | null {
  if ('client' in checked) return checked.client;
  return 'response' in checked ? checked.response.client : null;
}

/**
 * Returns the id of the request that the browser returns to after sign-in. The URL then has no
 * client id.
 */
function returningRequestId(parameters: Parameters): string | null {
  return parameters.has('client_id') || parameters.isRepeated('request_id')
    ? null
    : (parameters.get('request_id') ?? null);
}

function notSignedIn(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.not_signed_in'),
    'no one is signed in in the session that the answer came with',
  );
}

function bothAtOnce(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.not_clear'),
    'a form with a client_id and a request_id',
  );
}
