import { noteWish } from '../words/speaking.ts';
import { samePerson, type PersonReference, type UserInterface } from '../person.ts';
import { getRequestId } from '../http/request-id.ts';
import type { Visitor } from '../accounts.ts';
import type { Clients } from '../clients/clients.ts';
import { NO_DEMANDS } from '../store/client-demands.ts';
import type { LastUse } from '../clients/last-use.ts';
import { orderedIdentifier, randomIdentifier, randomToken, tokenHash } from '../crypto.ts';
import { formToken, isFormToken } from '../form-token.ts';
import { OAuthError } from '../errors.ts';
import { quotedList, quotedUri } from '../quoting.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import { noteClient } from '../refusals.ts';
import { intersectScopes, scopesHeldBy } from '../tokens/scopes.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ChoosableScopes, ConsentRequest } from '../store/requests.ts';
import type { AllowedAuthorization, AuthorizationAdditions } from './additions.ts';
import { isOpened, notSilent, recordRefusal, type FoundConsent } from './consent-memory.ts';
import { answeredBefore, notAccepted, notAnswerable } from './consent-errors.ts';
import { consentDetails, inheritedConsent } from '../store/remembered-consent.ts';
import { newCode } from '../tokens/token-formats.ts';
import { getIndirectRefusal } from './direct-requests.ts';
import type { ConfirmedStep, HostPage } from './interaction.ts';
import { responseTo, type AuthorizationResponse } from './response.ts';
import {
  addedScopes,
  choicesFor,
  chosenScopes,
  isPartAllowed,
  type IsChecked,
} from './scope-choices.ts';

/** The question for the consent screen, or the response if there is nothing to ask. */
export type Presented =
  { readonly question: ConsentQuestion } | { readonly response: AuthorizationResponse };

/** The response to the person's answer, or a page of the host that the person must visit first. */
export type Completed =
  | { readonly response: AuthorizationResponse }
  | { readonly page: HostPage; readonly pending: ConsentRequest };

/** A request, together with what the person can choose and the details for the authorization. */
type AskedRequest = AuthorizationRequest & Pick<ConsentRequest, 'choices' | 'details'>;

/** The options for a new consent request. */
interface BeginningConsent {
  /** The id that the request had before sign-in. Default: a new id. */
  readonly requestId?: string | undefined;
  /** The details that the authorization will store. */
  readonly details?: ConsentRequest['details'];
}

/** The question on the consent screen. */
export interface ConsentQuestion {
  readonly requestId: string;
  readonly client: Client;
  readonly user: UserInterface;
  /** The scopes that the person may grant. Never empty. */
  readonly scopes: readonly string[];
  /**
   * Those of `scopes` that the person has allowed this client before. Empty unless the resource
   * lets clients ask for more scopes step by step.
   */
  readonly grantedBefore: readonly string[];
  /** Those of `scopes` that the person can choose. Undefined if there is nothing to choose. */
  readonly choices: ChoosableScopes | undefined;
  /** The label of the resource that the client asks for. Null if it has no label. */
  readonly resource: string | null;
  readonly redirectUri: string;
  readonly csrfToken: string;
}

/**
 * Asks a person for consent (AS-8). The server saves the request when the person first sees it,
 * under the hash of its opaque id. The saved request is bound to the person, to their browser
 * session, and to the scopes that they saw.
 */
export class Consent {
  readonly #server: Server;
  readonly #clients: Clients;
  readonly #additions: AuthorizationAdditions;
  readonly #resources: ProtectedResources;
  readonly #lastUse: LastUse;

  constructor(
    server: Server,
    clients: Clients,
    additions: AuthorizationAdditions,
    resources: ProtectedResources,
    lastUse: LastUse,
  ) {
    this.#server = server;
    this.#clients = clients;
    this.#additions = additions;
    this.#resources = resources;
    this.#lastUse = lastUse;
  }

  /** Saves the request for this visitor, and returns the question. */
  async begin(
    request: AuthorizationRequest,
    client: Client,
    visitor: Visitor,
    { requestId = randomToken(), details }: BeginningConsent = {},
  ): Promise<Presented> {
    const person = visitor.user.reference;
    const before = await this.#allowedBefore(client, person, request.audience);
    const wanted =
      before.length === 0 ? request.scopes : union(request.scopes, before.filter(isKept));
    const { scopeChoices, binding } = this.#additions;
    const choices = choicesFor(scopeChoices, request, client, wanted, binding);
    const shown = choices === undefined ? wanted : union(wanted, choices.added);
    const scopes = await this.#held(shown, request, person);
    if (!isPartHeld(request, scopes)) return { response: nothingHeld(request, client) };
    if (client.registeredBy === 'document') await this.#additions.clientSource?.keep(client);
    const offered = scopes.filter((name) => choices?.added.includes(name) !== true);
    const remembered = await this.#findRemembered(request, client, visitor, offered);
    if (request.silent === true && remembered === null)
      return { response: notSilent(request, client) };
    const asked = { ...request, choices, details };
    const saved = await this.#saveRequest(asked, client, requestId, visitor, scopes);
    if (saved !== null && remembered === null) {
      return {
        question: question(this.#server, asked, requestId, client, visitor, scopes, before),
      };
    }
    if (saved !== null && remembered !== null) {
      const response = await this.#answerRemembered(saved, visitor, offered, remembered);
      if (response !== null) return { response };
    }
    // The same page was opened twice at once, and the other request was saved first. Or the
    // remembered authorization has ended, or no longer applies.
    const presented = await this.present(requestId, visitor);
    if (presented === null) throw notAnswerable('it was pruned at the same moment');
    if (request.silent !== true || 'response' in presented) return presented;
    if (saved !== null) await this.end(saved);
    return { response: notSilent(request, client) };
  }

  /**
   * Returns the authorization in which the person allowed these scopes on the consent page. Null if
   * the page must be shown.
   */
  async #findRemembered(
    asked: AuthorizationRequest,
    client: Client,
    { request, user }: Visitor,
    scopes: readonly string[],
  ): Promise<FoundConsent | null> {
    const { consentMemory } = this.#additions;
    if (consentMemory === null || !isOpened(request, asked.silent === true)) return null;
    return consentMemory.find({ asked, client, person: user.reference, scopes });
  }

  /**
   * Allows these scopes without a question. Returns null if the remembered authorization has ended
   * or no longer applies, or if the person must go to a page of the host first.
   */
  async #answerRemembered(
    pending: ConsentRequest,
    visitor: Visitor,
    scopes: readonly string[],
    remembered: FoundConsent,
  ): Promise<AuthorizationResponse | null> {
    const step = await this.#confirm(pending, visitor);
    if ('page' in step) return null;
    const isChecked = (name: string) => scopes.includes(name);
    return this.#answerFirst({ ...pending, ...step }, visitor, true, isChecked, remembered);
  }

  /**
   * Saves a request when it is first shown, and starts the time to answer. Returns null if the id
   * already exists.
   */
  async #saveRequest(
    request: AskedRequest,
    { name, registeredBy }: Client,
    requestId: string,
    visitor: Visitor,
    shown: readonly string[],
  ): Promise<ConsentRequest | null> {
    const { store, pruning, clock, config } = this.#server;
    const consent: ConsentRequest = {
      ...request,
      ...(registeredBy === 'document' ? { shownName: name } : {}),
      idHash: tokenHash(requestId),
      browserHash: tokenHash(visitor.browserSecret),
      asked: { person: visitor.user.reference, scopes: shown },
      outcome: null,
      expiresAt: clock() + config.consent_ttl * 1000,
    };
    const isSaved = await store.consentRequests.insertConsentRequest(consent);
    await pruning.tick();
    return isSaved ? consent : null;
  }

  /**
   * Shows a saved request to this visitor again. Returns null if no request with this id was saved.
   * Throws a page error if the visitor cannot answer it in this browser, or if it is too late to
   * answer.
   */
  async present(requestId: string, visitor: Visitor): Promise<Presented | null> {
    const { store, clock } = this.#server;
    const pending = await this.#findPending(requestId, visitor);
    if (pending === null) return null;
    const client = await this.#requireClient(pending);
    const person = visitor.user.reference;
    const before = await this.#allowedBefore(client, person, pending.audience);
    // Do not show scopes that were not shown before. The first tab may still be open, and the
    // person can also answer there.
    const scopes = await this.#held(shownScopes(pending, client, before), pending, person);
    if (!isPartHeld(pending, scopes)) {
      await this.end(pending);
      return { response: nothingHeld(pending, client) };
    }
    if (!(await store.consentRequests.presentConsentRequest(pending, scopes, clock())))
      throw await this.#endedMeanwhile(requestId, visitor);
    return {
      question: question(this.#server, pending, requestId, client, visitor, scopes, before),
    };
  }

  /**
   * Records this visitor's decision once.
   *
   * If the visitor repeats the same decision within `code_ttl`, redirects to the client again. If
   * the person must first go to a page of the host, the request stays open. Throws a page error if
   * there is no request that the visitor can answer.
   */
  async complete(
    requestId: string,
    visitor: Visitor,
    allow: boolean,
    isChecked: IsChecked,
  ): Promise<Completed> {
    const saved = await this.#requireOwn(requestId, visitor);
    const again = await this.#answerAgain(saved, visitor, allow, isChecked);
    if (again !== null) return { response: again };
    const pending = this.#requireOpen(saved);
    const step = allow ? await this.#confirm(pending, visitor) : { details: undefined };
    if ('page' in step) return { page: step.page, pending };
    const response = await this.#answerFirst({ ...pending, ...step }, visitor, allow, isChecked);
    if (response !== null) return { response };
    // The person clicked twice, and the other request recorded the same decision first.
    const answered = await this.#requireOwn(requestId, visitor);
    const meanwhile = await this.#answerAgain(answered, visitor, allow, isChecked);
    if (meanwhile === null) throw await this.#endedMeanwhile(requestId, visitor);
    return { response: meanwhile };
  }

  /** Decides whether the person must go to a page of the host before the answer counts. */
  async #confirm(pending: ConsentRequest, { request }: Visitor): Promise<ConfirmedStep> {
    const { interaction } = this.#additions;
    return interaction?.confirm(pending, request) ?? { details: pending.details };
  }

  /**
   * Records the first decision. Returns null if the request was answered, ended or expired since it
   * was read. With `remembered`, the person was not asked: also returns null if that authorization
   * has ended or no longer applies, or if the person may not grant the scopes any more.
   */
  async #answerFirst(
    pending: ConsentRequest,
    visitor: Visitor,
    allow: boolean,
    isChecked: IsChecked,
    remembered: FoundConsent | null = null,
  ): Promise<AuthorizationResponse | null> {
    const { store, audit, clock } = this.#server;
    const client = await this.#requireClient(pending);
    const person = visitor.user.reference;
    const held = allow ? await this.#grantable(pending, client, person) : [];
    const scopes = chosenScopes(pending, held, isChecked);
    const now = clock();
    const familyId = orderedIdentifier(now);
    const code = newCode(familyId);
    const details = await this.#detailsFor(pending, client, remembered);
    const allowed = isPartAllowed(pending, scopes)
      ? await this.#authorization(
          { ...pending, details },
          client,
          visitor,
          scopes,
          familyId,
          code,
          now,
        )
      : null;
    if (allowed === null && remembered !== null) return null;
    const noted = allowed === null ? null : this.#lastUse.record(client);
    if (noted !== null) {
      await noted;
      // A client's redirect URIs become fixed at its first use. So check again that the client
      // still has the redirect URI that the person saw.
      await this.#requireClient(pending);
    }
    // Record it first: if the answer is lost, the person is asked again.
    if (remembered === null)
      await recordRefusal(this.#server, pending, allowed?.family.scopes ?? []);
    const answer = { allow, at: now };
    if (!(await store.consentRequests.answerConsent(pending, allowed, answer, remembered)))
      return null;
    const { clientId } = pending;
    if (allowed === null) {
      await audit({ type: 'consent_denied', clientId, person });
      return notAllowed(pending, client, allow);
    }
    const { audience } = pending;
    await audit({
      type: 'consent_granted',
      authorization: familyId,
      clientId,
      person,
      scopes,
      audience,
      ...(remembered === null ? {} : { remembered: remembered.id }),
    });
    return responseTo(pending, client, { code });
  }

  /** Returns the details for the authorization. They say if its consent is remembered. */
  async #detailsFor(
    { details }: ConsentRequest,
    client: Client,
    remembered: FoundConsent | null,
  ): Promise<ConsentRequest['details']> {
    if (remembered !== null) return { ...details, ...inheritedConsent(remembered) };
    const { consentMemory } = this.#additions;
    if (consentMemory === null || !(await consentMemory.remembers(client))) return details;
    const renews = client.grants.includes('refresh_token');
    return { ...details, ...consentDetails({ origin: null, renews }) };
  }

  /**
   * Responds when the visitor repeats the same decision. If the person clicked twice, the browser
   * waits only for the second response. Replaces an unused code, so that only one code is valid.
   * Returns null if the decision differs or there was no decision.
   */
  async #answerAgain(
    saved: ConsentRequest,
    visitor: Visitor,
    allow: boolean,
    isChecked: IsChecked,
  ): Promise<AuthorizationResponse | null> {
    const { store, clock } = this.#server;
    const { answer } = saved;
    if (answer?.allow !== allow) return null;
    const client = await this.#requireClient(saved);
    const [now, lifetime] = [clock(), this.#codeLifetime(client) * 1000];
    if (now >= answer.at + lifetime) return null;
    const { familyId: id } = answer;
    if (id === null) return notAllowed(saved, client, allow);
    const { clientId } = saved;
    const person = visitor.user.reference;
    // The scopes differ if the person's permissions have changed, or if the person checked other
    // boxes. In that case, the store finds no authorization with these scopes.
    const scopes = chosenScopes(saved, await this.#grantable(saved, client, person), isChecked);
    const code = newCode(id);
    const replaced = await store.codes.replaceCode(
      { id, clientId, person, scopes },
      { hash: tokenHash(code), expiresAt: now + lifetime },
    );
    if (replaced === 'ended') return null;
    return replaced === 'used'
      ? denied(
          saved,
          client,
          CODE_USED,
          'the person allowed it again, and the code was used before',
        )
      : responseTo(saved, client, { code });
  }

  /** Returns those of the shown scopes that the person may still grant. */
  async #grantable(
    saved: ConsentRequest,
    client: Client,
    person: PersonReference,
  ): Promise<readonly string[]> {
    const before = await this.#allowedBefore(client, person, saved.audience);
    return this.#held(shownScopes(saved, client, before), saved, person);
  }

  /**
   * Returns those of the names that are scopes of the request's resource and that the person may
   * grant.
   */
  #held(
    names: readonly string[],
    { audience }: AuthorizationRequest,
    person: PersonReference,
  ): Promise<readonly string[]> {
    const { host, resources } = this.#server;
    return scopesHeldBy(host, resources.scopesOf(audience), names, person);
  }

  async #authorization(
    { clientId, audience, redirectUri, codeChallenge, nonce, thumbprint, ...asked }: ConsentRequest,
    client: Client,
    { request, readAt, user: { reference: person } }: Visitor,
    scopes: readonly string[],
    id: string,
    code: string,
    now: number,
  ) {
    const { store } = this.#server;
    const subject = await store.subjects.assignSubject(person, randomIdentifier());
    const expiresAt = now + this.#codeLifetime(client) * 1000;
    const { further = {} } = asked;
    const allowed = { request, readAt, id, clientId, person, subject, scopes, further };
    const details = await this.#details(asked.details, allowed);
    return {
      family: { id, clientId, person, subject, scopes, audience, thumbprint, details },
      code: { hash: tokenHash(code), expiresAt, parameters: { redirectUri, codeChallenge, nonce } },
    };
  }

  /** Returns these details and those that features keep. Undefined for none. */
  async #details(
    before: ConsentRequest['details'],
    allowed: AllowedAuthorization,
  ): Promise<ConsentRequest['details']> {
    let details = before;
    for (const keep of this.#additions.keptDetails) {
      const kept = await keep(allowed);
      if (kept !== undefined) details = { ...details, ...kept };
    }
    return details;
  }

  /**
   * Returns the request if this visitor may answer it now. Returns null if no request with this id
   * was saved.
   */
  async #findPending(requestId: string, visitor: Visitor): Promise<ConsentRequest | null> {
    const saved = await this.#findOwn(requestId, visitor);
    return saved === null ? null : this.#requireOpen(saved);
  }

  /**
   * Returns the request if this visitor was asked, even if it is already answered. Returns null if
   * no request with this id was saved.
   */
  async #findOwn(requestId: string, visitor: Visitor): Promise<ConsentRequest | null> {
    const { store } = this.#server;
    const saved = await store.consentRequests.findConsentRequest(tokenHash(requestId));
    if (saved === null) return null;
    noteClient(visitor.request, saved.clientId);
    if (saved.uiLocales !== undefined) noteWish(visitor.request, saved.uiLocales.split(' '));
    if (!this.#matchesBrowser(saved, visitor))
      throw notAnswerable('it was asked in another browser session');
    if (!samePerson(saved.asked.person, visitor.user.reference)) {
      await this.end(saved);
      throw notAnswerable('it was put to another person');
    }
    return saved;
  }

  #requireOpen(saved: ConsentRequest): ConsentRequest {
    const { clock, paths } = this.#server;
    if (saved.outcome === 'allowed' || saved.outcome === 'denied') {
      throw answeredBefore(saved.outcome, this.#additions.accessPath ?? paths.home);
    }
    if (saved.outcome === 'void') throw notAnswerable('it was ended without an answer');
    if (saved.expiresAt <= clock()) throw notAnswerable('it has expired');
    return saved;
  }

  /** Returns the request if this visitor can answer it now. Throws a page error otherwise. */
  async requirePending(requestId: string, visitor: Visitor): Promise<ConsentRequest> {
    return this.#requireOpen(await this.#requireOwn(requestId, visitor));
  }

  async #requireOwn(requestId: string, visitor: Visitor): Promise<ConsentRequest> {
    const saved = await this.#findOwn(requestId, visitor);
    if (saved === null) throw notAnswerable('it is unknown, or expired long ago');
    return saved;
  }

  /** Returns why the store refused to change a request that was pending when it was read. */
  async #endedMeanwhile(requestId: string, visitor: Visitor): Promise<Error> {
    await this.#findPending(requestId, visitor);
    return notAnswerable('it was put to the person with other scopes at the same moment');
  }

  /**
   * Returns the client if it still exists and still has this redirect URI and one of the shown
   * scopes. Client documents may change at any time. So an open request keeps the client data from
   * when the request began.
   */
  async #requireClient(saved: ConsentRequest): Promise<Client> {
    const { indirectRefusals, mayRedirect, responseModes } = this.#additions;
    const { clientId, redirectUri, shownName } = saved;
    const client = await this.#clients.find(clientId);
    if (client === null || client.revokedAt !== null) {
      throw notAnswerable(`the client ${clientId} was revoked`);
    }
    if (client.grants.length === 0) {
      throw notAnswerable(
        `the client ${clientId} was unblocked, and its document has not been read since`,
      );
    }
    responseModes.of(saved);
    const refusal = this.#server.profiles.refusal(client);
    if (refusal !== null)
      throw notAnswerable(`the client ${clientId} is given nothing: ${refusal}`);
    // The person may have been asked before the requirement existed. So ignore a requirement that a
    // client document added later.
    const demands = shownName === undefined ? client : NO_DEMANDS;
    const refused = saved.direct === true ? null : getIndirectRefusal(demands, indirectRefusals);
    if (refused !== null) throw notAnswerable(refused.detail ?? refused.message);
    if (shownName !== undefined) return { ...client, name: shownName };
    if (!mayRedirect(client, redirectUri)) {
      throw notAnswerable(
        `the client ${clientId} is no longer registered with the ` +
          `redirect_uri ${quotedUri(redirectUri)}`,
      );
    }
    if (intersectScopes(saved.asked.scopes, registeredScopes(saved, client)).length === 0) {
      throw notAnswerable(
        `the client ${clientId} is no longer registered for any of the scopes asked for`,
      );
    }
    return client;
  }

  /**
   * Whether this browser session is the one that the request was shown in. If it is not and the
   * request is still pending, writes a warning to the log (AS-8.10).
   */
  #matchesBrowser(saved: ConsentRequest, { browserSecret, request }: Visitor): boolean {
    const { host, clock } = this.#server;
    if (saved.browserHash === tokenHash(browserSecret)) return true;
    if (saved.outcome === null && saved.expiresAt > clock()) {
      const requestId = getRequestId(request);
      host.log.warning(ANOTHER_SECRET, { clientId: saved.clientId, requestId });
    }
    return false;
  }

  /** Throws a page error unless the token matches this request and browser session. */
  async requireCsrfToken(requestId: string, visitor: Visitor, csrfToken: string): Promise<void> {
    const { store } = this.#server;
    if (isFormToken(csrfToken, visitor, ...getForm(requestId))) return;
    const saved = await store.consentRequests.findConsentRequest(tokenHash(requestId));
    if (saved !== null) this.#matchesBrowser(saved, visitor);
    throw notAccepted('the csrf_token does not belong to this request and browser session');
  }

  /** Returns the lifetime of a code in seconds. */
  #codeLifetime(client: Client): number {
    const { config, profiles } = this.#server;
    return Math.min(config.code_ttl, profiles.of(client)?.longestCode ?? config.code_ttl);
  }

  /**
   * Returns the scopes that the person has allowed this client before. Empty unless the resource
   * lets clients ask for more scopes step by step.
   */
  async #allowedBefore(
    client: Client,
    person: PersonReference,
    audience: string | null,
  ): Promise<readonly string[]> {
    const { earlierScopes } = this.#additions;
    const isAsked = earlierScopes !== null && this.#resources.of(audience).needs().stepUp === true;
    return isAsked ? earlierScopes(client, person, audience) : NOTHING;
  }

  /** Ends the request without an answer. */
  end({ idHash }: ConsentRequest): Promise<void> {
    return this.#server.store.consentRequests.voidConsentRequest(idHash);
  }
}

const ANOTHER_SECRET =
  'The question of client {clientId} met another browser secret than it was asked with. If ' +
  'no one opened it in two browsers, and ' +
  'no other person signed in, signing in started a new session and dropped the old one: ' +
  'leave Host.browserSecret to Portico, or ' +
  'keep the value that it answers (keepSessionInfo: true for passport, ' +
  'session.regenerate([...]) for @fastify/session), see ' +
  'docs/host-contract.md';

function question(
  { resources }: Server,
  { redirectUri, audience, choices }: AskedRequest,
  requestId: string,
  client: Client,
  visitor: Visitor,
  scopes: readonly string[],
  before: readonly string[],
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

const NOTHING: readonly string[] = [];

/**
 * Whether an earlier scope is kept. `openid` is not kept, because each request must ask for it
 * (AS-1.3).
 */
const isKept = (scope: string) => scope !== 'openid';

function union(first: readonly string[], second: readonly string[]): readonly string[] {
  return [...new Set([...first, ...second])];
}

/**
 * Returns the requested scopes that the client is still registered for. A flow that began with a
 * client document keeps all its requested scopes.
 */
function registeredScopes(
  { scopes, shownName }: ConsentRequest,
  client: Client,
): readonly string[] {
  return shownName === undefined ? intersectScopes(scopes, client.scopes) : scopes;
}

/**
 * Returns the shown scopes that still apply. Leaves out requested scopes that the client is no
 * longer registered for. Also leaves out earlier scopes that the client did not request and the
 * person has since revoked.
 */
function shownScopes(
  saved: ConsentRequest,
  client: Client,
  before: readonly string[],
): readonly string[] {
  const kept = union(registeredScopes(saved, client), before);
  return intersectScopes(saved.asked.scopes, union(kept, addedScopes(saved, client)));
}

/**
 * Whether the client would get at least one requested scope. If only earlier scopes are left, the
 * client would get nothing that it asked for.
 */
function isPartHeld({ scopes }: AuthorizationRequest, held: readonly string[]): boolean {
  return held.some((name) => scopes.includes(name));
}

/**
 * Returns the parts of the form token: the form's name and the request. Several consent screens can
 * be open at once (AS-8.3), so each has its own token.
 */
function getForm(requestId: string): readonly string[] {
  return ['oauth/consent', requestId];
}

function nothingHeld(request: AuthorizationRequest, client: Client): AuthorizationResponse {
  return denied(
    request,
    client,
    'The person holds no permission that the scopes ask for.',
    noPermission(request),
  );
}

const NOTHING_CHOSEN = 'the person left out every scope, or holds none of their permissions';

const CODE_USED = 'The person has allowed this request before, and its code was used.';

function notAllowed(
  request: ConsentRequest,
  client: Client,
  allow: boolean,
): AuthorizationResponse {
  const none = request.choices === undefined ? noPermission(request) : NOTHING_CHOSEN;
  const detail = allow ? none : 'the person answered no';
  return denied(request, client, 'The person did not allow it.', detail);
}

function noPermission({ scopes }: AuthorizationRequest): string {
  return `the person holds no permission behind the scopes asked for: ${quotedList(scopes)}`;
}

function denied(
  request: AuthorizationRequest,
  client: Client,
  description: string,
  detail: string,
): AuthorizationResponse {
  const error = new OAuthError('access_denied', description, detail);
  return responseTo(request, client, { error });
}
