import type { Visitor } from '../host/accounts.ts';
import type { LastUse } from '../clients/last-use.ts';
import { orderedIdentifier, randomIdentifier, tokenHash } from '../crypto.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { priorDetails, type PriorAuthorization } from '../store/prior-consent.ts';
import { renewalFor } from '../store/renewal.ts';
import type { ConsentRequest } from '../store/requests.ts';
import type { NewAuthorization } from '../store/sql/new-authorizations.ts';
import { intersectScopes } from '../tokens/scopes.ts';
import { newCode } from '../tokens/token-formats.ts';
import type { AllowedAuthorization, AuthorizationAdditions } from './additions.ts';
import { codeUsed, notAllowed } from './denials.ts';
import type { GrantableScopes } from './grantable-scopes.ts';
import type { ConfirmedStep, HostPage } from './interaction.ts';
import { responseTo, type AuthorizationResponse } from './response.ts';
import type { SavedRequests } from './saved-requests.ts';
import { chosenScopes, isPartAllowed, type IsChecked } from './scope-choices.ts';

/** The response to the client, or a page of the host that the person must visit first. */
export type Completed =
  | { readonly response: AuthorizationResponse }
  | { readonly page: HostPage; readonly pending: ConsentRequest };

interface Allowing {
  readonly pending: ConsentRequest;
  readonly client: Client;
  readonly visitor: Visitor;
  readonly scopes: readonly string[];
  readonly prior: PriorAuthorization | null;
  readonly id: string;
  readonly code: string;
  readonly now: number;
}

/** Records answers from the consent page, and responds to the client (AS-8). */
export class ConsentAnswers {
  readonly #server: Server;
  readonly #additions: AuthorizationAdditions;
  readonly #saved: SavedRequests;
  readonly #scopes: GrantableScopes;
  readonly #lastUse: LastUse;

  constructor(
    server: Server,
    additions: AuthorizationAdditions,
    saved: SavedRequests,
    scopes: GrantableScopes,
    lastUse: LastUse,
  ) {
    this.#server = server;
    this.#additions = additions;
    this.#saved = saved;
    this.#scopes = scopes;
    this.#lastUse = lastUse;
  }

  /**
   * Records the visitor's first decision, and responds to the client.
   *
   * The visitor may send the same decision again within the lifetime of the code. The client then
   * gets another response. If the person must first visit a page of the host, returns this page and
   * records nothing. Throws a page error if the visitor has no consent request to answer.
   */
  async complete(
    requestId: string,
    visitor: Visitor,
    allow: boolean,
    isChecked: IsChecked,
  ): Promise<Completed> {
    const saved = await this.#saved.requireOwn(requestId, visitor);
    const again = await this.#answerAgain(saved, visitor, allow, isChecked);
    if (again !== null) return { response: again };
    const pending = this.#saved.requireOpen(saved);
    const step = allow ? await this.#confirm(pending, visitor) : { details: undefined };
    if ('page' in step) return { page: step.page, pending };
    const response = await this.#answerFirst({ ...pending, ...step }, visitor, allow, isChecked);
    if (response !== null) return { response };
    // If the person clicked twice, the other click has recorded the decision.
    const answered = await this.#saved.requireOwn(requestId, visitor);
    const meanwhile = await this.#answerAgain(answered, visitor, allow, isChecked);
    if (meanwhile === null) throw await this.#saved.endedMeanwhile(requestId, visitor);
    return { response: meanwhile };
  }

  /**
   * Allows these scopes without showing the consent page. Returns null in these cases:
   *
   * - The earlier authorization `prior` has ended, or no longer covers the request.
   * - The person must first visit a page of the host.
   * - The person may no longer grant any of the scopes.
   * - The consent request was answered, ended or expired in the meantime.
   */
  async completeWithPrior(
    pending: ConsentRequest,
    visitor: Visitor,
    scopes: readonly string[],
    prior: PriorAuthorization,
  ): Promise<AuthorizationResponse | null> {
    const step = await this.#confirm(pending, visitor);
    if ('page' in step) return null;
    const isChecked = (name: string) => scopes.includes(name);
    return this.#answerFirst({ ...pending, ...step }, visitor, true, isChecked, prior);
  }

  async #confirm(pending: ConsentRequest, { request }: Visitor): Promise<ConfirmedStep> {
    const { interaction } = this.#additions;
    return interaction?.confirm(pending, request) ?? { details: pending.details };
  }

  /**
   * Records the first decision. Returns null if the consent request was answered, ended or expired
   * in the meantime, or if the store blocks the new authorization.
   *
   * With `prior`, the person sees no consent page. The method then also returns null in these
   * cases:
   *
   * - The earlier authorization has ended, or no longer covers the request.
   * - The person may no longer grant any of the scopes.
   */
  async #answerFirst(
    pending: ConsentRequest,
    visitor: Visitor,
    allow: boolean,
    isChecked: IsChecked,
    prior: PriorAuthorization | null = null,
  ): Promise<AuthorizationResponse | null> {
    const { store, audit, clock } = this.#server;
    const client = await this.#saved.requireClient(pending);
    const person = visitor.user.reference;
    const held = allow ? (await this.#scopes.ofSaved(pending, client, person)).scopes : [];
    const chosen = chosenScopes(pending, held, isChecked);
    // Without a page, the person saw no scopes that the client did not request.
    const scopes = prior === null ? chosen : intersectScopes(chosen, pending.scopes);
    const now = clock();
    const id = orderedIdentifier(now);
    const code = newCode(id);
    const isAllowed = isPartAllowed(pending, scopes);
    const allowed = isAllowed
      ? await this.#authorization({ pending, client, visitor, scopes, prior, id, code, now })
      : null;
    if (allowed === null && (isAllowed || prior !== null)) return null;
    const noted = allowed === null ? null : this.#lastUse.recordAllowed(client);
    if (noted !== null) {
      await noted;
      // Check the redirect URI again. A client can change its redirect URIs until its first use.
      await this.#saved.requireClient(pending);
    }
    // Call the features first. If one of them throws, the consent request stays open.
    if (prior === null) {
      const given = allowed?.family.scopes ?? [];
      const refused = refusedScopes(pending, allow, isChecked);
      for (const receive of this.#additions.consentAnswered) await receive(pending, given, refused);
    }
    const answer = { allow, at: now };
    if (!(await store.consentRequests.answerConsent(pending, allowed, answer, prior))) return null;
    const { clientId, audience } = pending;
    if (allowed === null) {
      await audit({ type: 'consent_denied', clientId, person });
      return notAllowed(pending, client, allow);
    }
    await audit({
      type: 'consent_granted',
      authorization: id,
      clientId,
      person,
      scopes,
      audience,
      ...(prior === null ? {} : { remembered: prior.id }),
    });
    return responseTo(pending, client, { code });
  }

  /**
   * Responds to a visitor who sends the same decision again. After a double click, the browser
   * waits only for the second response.
   *
   * Replaces an unused code, so that only one code is valid. Responds with an error if the code was
   * used. Returns null for another decision, for one that is too old, or if the authorization has
   * ended or has other scopes.
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
    const client = await this.#saved.requireClient(saved);
    const [now, lifetime] = [clock(), this.#codeLifetime(client) * 1000];
    if (now >= answer.at + lifetime) return null;
    const { familyId: id } = answer;
    if (id === null) return notAllowed(saved, client, allow);
    const { clientId } = saved;
    const person = visitor.user.reference;
    // These scopes can differ from the first answer, for example if the person checked other boxes.
    // `replaceCode` then finds no authorization.
    const { scopes: held } = await this.#scopes.ofSaved(saved, client, person);
    const scopes = chosenScopes(saved, held, isChecked);
    const code = newCode(id);
    const replaced = await store.codes.replaceCode(
      { id, clientId, person, scopes },
      { hash: tokenHash(code), expiresAt: now + lifetime },
    );
    if (replaced === 'ended') return null;
    return replaced === 'used' ? codeUsed(saved, client) : responseTo(saved, client, { code });
  }

  /**
   * Returns the authorization that the person allows, and its code. Does not store them. Returns
   * null if the person was erased in the meantime.
   */
  async #authorization(allowing: Allowing): Promise<NewAuthorization | null> {
    const { pending, client, visitor, scopes, prior, id, code, now } = allowing;
    const { clientId, audience, redirectUri, codeChallenge, nonce, thumbprint } = pending;
    const { further = {} } = pending;
    const { request, readAt } = visitor;
    const person = visitor.user.reference;
    const { subjects } = this.#server.store;
    const candidate = randomIdentifier();
    const subject = await subjects.assignSubjectWhile(pending.idHash, person, candidate);
    if (subject === null) return null;
    const expiresAt = now + this.#codeLifetime(client) * 1000;
    const about = { id, clientId, client, person, subject, scopes, prior };
    const parameters = { redirectUri, codeChallenge, nonce, ...renewalFor(pending) };
    const begun = prior === null ? pending.details : { ...pending.details, ...priorDetails(prior) };
    const details = await this.#details(begun, { ...about, request, readAt, further });
    return {
      family: { id, clientId, person, subject, scopes, audience, thumbprint, details },
      code: { hash: tokenHash(code), expiresAt, parameters },
    };
  }

  /** Adds the details of features. Returns undefined if there are no details. */
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

  /** In seconds. */
  #codeLifetime(client: Client): number {
    const { config, profiles } = this.#server;
    return Math.min(config.code_ttl, profiles.of(client)?.longestCode ?? config.code_ttl);
  }
}

/** Returns the shown scopes that the person refuses, whether or not they may grant them. */
function refusedScopes(
  pending: ConsentRequest,
  allow: boolean,
  isChecked: IsChecked,
): readonly string[] {
  const { scopes: shown } = pending.asked;
  if (!allow) return shown;
  const chosen = chosenScopes(pending, shown, isChecked);
  return shown.filter((name) => !chosen.includes(name));
}
