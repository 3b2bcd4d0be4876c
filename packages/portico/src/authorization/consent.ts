import type { Visitor } from '../host/accounts.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { PriorAuthorization } from '../store/prior-consent.ts';
import { renewalOf } from '../store/renewal.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';
import type { AuthorizationAdditions } from './additions.ts';
import type { ConsentAnswers } from './consent-answers.ts';
import { notAnswerable } from './consent-errors.ts';
import { askConsent, type AskedRequest, type ConsentQuestion } from './consent-question.ts';
import { nothingHeld } from './denials.ts';
import { isPartHeld, type GrantableScopes } from './grantable-scopes.ts';
import type { AuthorizationResponse } from './response.ts';
import type { SavedRequests } from './saved-requests.ts';
import { isOpened, notSilent } from './silent-requests.ts';

/** The question for the consent page, or a response if there is nothing to ask. */
export type Presented =
  { readonly question: ConsentQuestion } | { readonly response: AuthorizationResponse };

interface BeginningConsent {
  /** The id that the request had before sign-in. Defaults to a new id. */
  readonly requestId?: string | undefined;
  readonly details?: ConsentRequest['details'];
}

/**
 * Asks a person for consent (AS-8). Before it shows the page, the server saves the request under a
 * hash of its id. The saved request is bound to this person, their browser session, and the scopes
 * that they saw.
 */
export class Consent {
  readonly #server: Server;
  readonly #additions: AuthorizationAdditions;
  readonly #saved: SavedRequests;
  readonly #scopes: GrantableScopes;
  readonly #answers: ConsentAnswers;

  constructor(
    server: Server,
    additions: AuthorizationAdditions,
    saved: SavedRequests,
    scopes: GrantableScopes,
    answers: ConsentAnswers,
  ) {
    this.#server = server;
    this.#additions = additions;
    this.#saved = saved;
    this.#scopes = scopes;
    this.#answers = answers;
  }

  /** Saves the request for this visitor. Returns a response if there is nothing to ask. */
  async begin(
    request: AuthorizationRequest,
    client: Client,
    visitor: Visitor,
    { requestId = randomToken(), details }: BeginningConsent = {},
  ): Promise<Presented> {
    const { choices, ...ask } = await this.#scopes.ofNew(request, client, visitor.user.reference);
    const { scopes } = ask;
    if (!isPartHeld(request, scopes)) return { response: nothingHeld(request, client) };
    if (client.registeredBy === 'document') await this.#additions.clientSource?.keep(client);
    const offered = scopes.filter((name) => choices?.added.includes(name) !== true);
    const prior = await this.#findPrior(request, client, visitor, offered);
    if (request.silent === true && prior === null) return { response: notSilent(request, client) };
    const asked = { ...request, choices, details };
    const saved = await this.#save(asked, client, requestId, visitor, scopes);
    if (saved !== null) {
      if (prior === null)
        return { question: askConsent(this.#server, asked, requestId, client, visitor, ask) };
      const response = await this.#answers.completeWithPrior(saved, visitor, offered, prior);
      if (response !== null) return { response };
    }
    // Either the person opened the page twice, and the other page saved the request first. Or the
    // earlier authorization cannot be used: it has ended, or the person must first visit a page of
    // the host.
    const presented = await this.present(requestId, visitor);
    if (presented === null)
      throw notAnswerable('the consent request was removed before its page could be shown');
    if (request.silent !== true) return presented;
    if (saved !== null) await this.#saved.end(saved);
    return 'response' in presented ? presented : { response: notSilent(request, client) };
  }

  /**
   * Saves a request that the server refuses without showing it. It can then no longer be shown or
   * answered. Throws a page error if it was already shown to another person or in another browser.
   */
  async close(
    request: AuthorizationRequest,
    client: Client,
    visitor: Visitor,
    requestId: string,
  ): Promise<void> {
    const closed = { ...request, outcome: 'void' } as const;
    if ((await this.#save(closed, client, requestId, visitor, [])) === null)
      await this.#saved.requireOwn(requestId, visitor);
  }

  /**
   * Returns an earlier authorization that covers all of these scopes. Returns null if there is no
   * usable one, or if the browser did not open this URL as a page.
   */
  async #findPrior(
    asked: AuthorizationRequest,
    client: Client,
    { request, user }: Visitor,
    scopes: readonly string[],
  ): Promise<PriorAuthorization | null> {
    const { priorConsent } = this.#additions;
    if (priorConsent === null || !isOpened(request, asked.silent === true)) return null;
    return priorConsent.find({ asked, client, person: user.reference, scopes });
  }

  /**
   * The person must answer within `consent_ttl` seconds. Returns null if a request with this id
   * exists.
   */
  async #save(
    request: AskedRequest & Partial<Pick<ConsentRequest, 'outcome'>>,
    client: Client,
    requestId: string,
    visitor: Visitor,
    shown: readonly string[],
  ): Promise<ConsentRequest | null> {
    const { store, pruning, clock, config } = this.#server;
    const consent: ConsentRequest = {
      outcome: null,
      ...request,
      ...(client.registeredBy === 'document' ? { shownName: client.name } : {}),
      ...renewalOf(client),
      idHash: tokenHash(requestId),
      browserHash: tokenHash(visitor.browserSecret),
      asked: { person: visitor.user.reference, scopes: shown },
      expiresAt: clock() + config.consent_ttl * 1000,
    };
    const isSaved = await store.consentRequests.insertConsentRequest(consent);
    await pruning.tick();
    return isSaved ? consent : null;
  }

  /**
   * Shows a saved request again, or returns a response instead. Returns null if no request has this
   * id. Throws a page error if the request has expired, or if this visitor may not answer it here.
   */
  async present(requestId: string, visitor: Visitor): Promise<Presented | null> {
    const { store, clock } = this.#server;
    const pending = await this.#saved.findPending(requestId, visitor);
    if (pending === null) return null;
    const client = await this.#saved.requireClient(pending);
    if (pending.silent === true) return { response: notSilent(pending, client) };
    const ask = await this.#scopes.ofSaved(pending, client, visitor.user.reference);
    if (!isPartHeld(pending, ask.scopes)) {
      await this.#saved.end(pending);
      return { response: nothingHeld(pending, client) };
    }
    if (!(await store.consentRequests.presentConsentRequest(pending, ask.scopes, clock())))
      throw await this.#saved.endedMeanwhile(requestId, visitor);
    return { question: askConsent(this.#server, pending, requestId, client, visitor, ask) };
  }
}
