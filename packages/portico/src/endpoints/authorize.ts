import { page } from '../pages/words.ts';
import type { Visitor } from '../host/accounts.ts';
import { notAnswerable } from '../authorization/consent-errors.ts';
import { notSignedInSilently, notSilent } from '../authorization/silent-requests.ts';
import { Consent } from '../authorization/consent.ts';
import { ConsentAnswers } from '../authorization/consent-answers.ts';
import { GrantableScopes } from '../authorization/grantable-scopes.ts';
import { SavedRequests } from '../authorization/saved-requests.ts';
import { notUsable } from '../authorization/direct-requests.ts';
import type { Received } from '../authorization/interaction.ts';
import { refuseBearer } from '../authorization/refuse-bearer.ts';
import { responseTo } from '../authorization/response.ts';
import { hintsRead, sentHints, type Hint } from '../authorization/sign-in-hints.ts';
import { RequestChecks, type CheckedRequest, type PutRequest } from '../authorization/request.ts';
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
import { redirectReply } from './replies/pages.ts';
import {
  createParameters,
  queryParameters,
  readForm,
  unrepeated,
  type Parameters,
} from '../parameters.ts';
import type { Reply } from './replies/responses.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest } from '../store/requests.ts';
import { AuthorizeReplies, type SendingAdditions } from './authorize-replies.ts';
import { ConsentForm } from './consent-form.ts';
import { noteSent, SignInTrips } from './sign-in-trips.ts';

type Put = (request: Request, put: PutRequest, requestId?: string) => Promise<Reply>;

export class AuthorizeEndpoint {
  readonly checks: RequestChecks;
  readonly #server: Server;
  readonly #additions: SendingAdditions;
  readonly #consent: Consent;
  readonly #form: ConsentForm;
  readonly #waiting: WaitingRequests;
  /** Null if the sign-in page shows no data about the request. */
  readonly #notes: SignInNotes | null;
  readonly #trips: SignInTrips;
  readonly #replies: AuthorizeReplies;
  readonly #hints: readonly Hint[];

  constructor(
    server: Server,
    clients: Clients,
    additions: SendingAdditions,
    resources: ProtectedResources,
    lastUse: LastUse,
  ) {
    const { binding, clientSource } = additions;
    this.#server = server;
    this.#additions = additions;
    this.checks = new RequestChecks(server, clients, additions);
    const saved = new SavedRequests(server, clients, additions);
    const scopes = new GrantableScopes(server, additions, resources);
    const answers = new ConsentAnswers(server, additions, saved, scopes, lastUse);
    this.#consent = new Consent(server, additions, saved, scopes, answers);
    const waiting = new WaitingRequests(server);
    this.#waiting = waiting;
    this.#notes = server.host.tellsWhoWaits ? new SignInNotes(server, clients, clientSource) : null;
    const replies = new AuthorizeReplies(server, additions);
    this.#replies = replies;
    const trips = new SignInTrips(server, waiting, this.#notes, replies);
    this.#trips = trips;
    this.#form = new ConsentForm(server, binding, saved, answers, waiting, trips, replies);
    this.#hints = hintsRead(server);
  }

  /**
   * Shows the authorization request to the signed-in user. Without a user, stores the request and
   * redirects to the sign-in page. After sign-in, the browser comes back with the request's id.
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
   * Handles the answer on the consent page. A form with a `client_id` is an authorization request
   * instead (AS-7.11).
   */
  readonly post = async (request: Request): Promise<Reply> => {
    refuseBearer(request, this.#additions.binding, 'The authorization endpoint');
    const form = await readForm(request);
    const parameters = createParameters(form);
    if (!parameters.has('client_id')) return this.#form.answer(request, unrepeated(form));
    if (parameters.has('request_id')) throw bothAtOnce();
    return this.#putRequest(request, parameters, this.#postedRequest.bind(this));
  };

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
    // If the checks failed, redirect to an unverified client only after a user has signed in (RFC
    // 9700 section 4.11.2).
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null && isSilent(checked)) {
      const response = notSignedInSilently(checked.asked, checked.client);
      return this.#spent(put, requestId, await this.#replies.response(request, response));
    }
    if (visitor === null)
      return this.#trips.signIn(request, this.#toWait(put, requestId), findClient(checked));
    if ('signInFirst' in checked) return this.#begin(put, visitor, requestId);
    return this.#show(checked, put, visitor, requestId);
  }

  /**
   * Handles an authorization request in a form that another site posted. The browser sends the
   * session cookie only after a redirect. So redirect it, with the request's id in the URL.
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
    // Refuse a silent request: without the session cookie, the server does not know the user.
    if (isSilent(checked)) {
      const response = notSilent(checked.asked, checked.client);
      return this.#spent(put, requestId, await this.#replies.response(request, response, 303));
    }
    const begun = await this.#waiting.begin(request, this.#toWait(put, requestId));
    return {
      ...redirectReply(this.#trips.returnPath(begun.requestId), 303),
      cookies: begun.cookies,
    };
  }

  /**
   * Handles a request that the client sent directly. Browsers can load it repeatedly until a
   * signed-in user sees it. It then becomes a consent request with the same id. Only this user in
   * this browser can see that request (RFC 9126 section 4).
   */
  async #directRequest(request: Request, requestId: string, put: Put): Promise<Reply> {
    const presented = await this.#presentedBefore(request, requestId);
    if (presented !== null) return presented;
    const sent = (await this.#additions.directRequests?.find(requestId)) ?? null;
    if (sent !== null) {
      const received = await this.#receivedBefore(request, requestId);
      return put(request, { parameters: readParameters(sent), direct: true, received }, requestId);
    }
    // Another tab or a reload may have shown the consent page in the meantime.
    const meanwhile = await this.#presentedBefore(request, requestId);
    if (meanwhile !== null) return meanwhile;
    if ((await this.#waiting.find(request, requestId)) !== null)
      return redirectReply(this.#trips.returnPath(requestId), 303);
    throw notUsable(
      'it has expired, has already been used, belongs to a different client, or never existed',
    );
  }

  /**
   * Returns when this browser first sent the request. Undefined for a new request, or if no feature
   * needs this time.
   */
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
   * Handles a browser that comes back from sign-in. Shows the consent page again, or continues the
   * waiting request.
   */
  async #returningRequest(request: Request, requestId: string): Promise<Reply> {
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) return this.#trips.signInAgain(request, requestId);
    const presented = await this.#consent.present(requestId, visitor);
    if (presented !== null) return this.#replies.presented(request, presented);
    const waited = await this.#waiting.find(request, requestId);
    if (waited !== null) {
      noteSent(request, waited.sent);
      // Check the request again. Clients and scopes may have changed while it was waiting.
      const { sent, direct, received } = waited;
      const put = { parameters: readParameters(sent), direct, received };
      const reply = await this.#begin(put, visitor, requestId);
      await waited.end();
      // If the user must visit a page of the host, the request is waiting again, in a new cookie.
      return { ...reply, cookies: reply.cookies ?? waited.cookies };
    }
    // Another tab may have shown the consent page in the meantime.
    const meanwhile = await this.#consent.present(requestId, visitor);
    if (meanwhile !== null) return this.#replies.presented(request, meanwhile);
    throw notAnswerable('it is unknown, has expired, or was started in another browser');
  }

  async #begin(put: PutRequest, visitor: Visitor, requestId?: string): Promise<Reply> {
    const checked = await this.checks.check(put, visitor.request, visitor.user.reference);
    if ('signInFirst' in checked) throw new Error('A person is signed in already');
    return this.#show(checked, put, visitor, requestId);
  }

  /** Shows the consent page, or sends the error response of the checks. */
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
    const step = await this.#nextStep(asked, put, visitor);
    if ('page' in step && asked.silent === true) {
      const response = notSignedInSilently(asked, client);
      return this.#spent(put, requestId, await this.#replies.response(request, response));
    }
    // Keep the direct request. The browser will come back to it.
    if ('page' in step) {
      const received = { receivedAt: step.receivedAt, isBack: true };
      const waits = { ...this.#toWait(put, requestId), received };
      return this.#trips.send(step.page, request, waits, client);
    }
    const presented =
      'refusal' in step
        ? { response: responseTo(asked, client, { error: step.refusal }) }
        : await this.#consent.begin(asked, client, visitor, { requestId, details: step.details });
    // Close the request. It may also be waiting for a sign-in in another browser.
    const isError = 'response' in presented && 'error' in presented.response.result;
    if (isError && put.direct && requestId !== undefined)
      await this.#consent.close(asked, client, visitor, requestId);
    return this.#spent(put, requestId, await this.#replies.presented(request, presented));
  }

  async #nextStep(
    asked: AuthorizationRequest,
    { received }: PutRequest,
    { request, user }: Visitor,
  ) {
    const { receivedAt, isBack } = received ?? { receivedAt: this.#server.clock(), isBack: false };
    const visit = { request, person: user.reference, receivedAt, isBack };
    const step = await this.#additions.interaction?.next(asked, visit);
    return step === undefined ? NO_INTERACTION : 'page' in step ? { ...step, receivedAt } : step;
  }

  /** Ends a client's direct request, so that it cannot be used again. */
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
}

const NO_INTERACTION = { details: undefined } as const;

function readParameters(sent: SentParameters): Parameters {
  return createParameters(new URLSearchParams(sent.map(([name, value]) => [name, value])));
}

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
 * Returns the id of the waiting request that the browser comes back to. A URL with a client id is a
 * new request.
 */
function returningRequestId(parameters: Parameters): string | null {
  return parameters.has('client_id') || parameters.isRepeated('request_id')
    ? null
    : (parameters.get('request_id') ?? null);
}

function bothAtOnce(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.not_clear'),
    'a form with a client_id and a request_id',
  );
}
