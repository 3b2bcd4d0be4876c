import type { Visitor } from '../../host/accounts.ts';
import { samePerson } from '../../person.ts';
import { orderedIdentifier, randomIdentifier, randomToken, tokenHash } from '../../crypto.ts';
import type { Parts } from '../../feature.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { renewalFor, renewalOf } from '../../store/renewal.ts';
import type { ConsentRequest } from '../../store/requests.ts';
import { intersectScopes, scopesHeldBy, scopesInForce } from '../../tokens/scopes.ts';
import { deviceProblem } from './clients.ts';
import type { DeviceCodes, DeviceRequest } from './codes.ts';

/** A device request that has not been answered and has not expired. */
export interface OpenRequest {
  readonly request: DeviceRequest;
  readonly client: Client;
  /** The scopes that this user can allow. The list can be empty. */
  readonly scopes: readonly string[];
}

/** The consent request that a user has answered on the device page. */
export interface AnsweredQuestion {
  readonly id: string;
  /** The scopes that the device page showed. */
  readonly scopes: readonly string[];
}

/** How long a device has at least to fetch its tokens after the user's answer, in milliseconds. */
const FETCH_TIME = 60_000;

/** Finds device requests by their user code, and records users' answers. */
export class Approvals {
  readonly #server: Server;
  readonly #parts: Parts;
  readonly #codes: DeviceCodes;

  constructor(server: Server, parts: Parts, codes: DeviceCodes) {
    this.#server = server;
    this.#parts = parts;
    this.#codes = codes;
  }

  /**
   * Returns the device request with this user code if the visitor can answer it now. Returns null
   * in these cases:
   *
   * - The code is unknown or has expired.
   * - The request has already been answered, or an operator has ended it.
   * - The client may no longer use device codes.
   */
  async findOpen(userCode: string, visitor: Visitor): Promise<OpenRequest | null> {
    const { clock, profiles } = this.#server;
    const request = await this.#codes.findByUser(tokenHash(userCode));
    if (request === null || request.outcome !== null || request.expiresAt <= clock()) return null;
    const client = await this.#parts.clients.find(request.clientId);
    if (client === null || deviceProblem(client, profiles) !== null) return null;
    return { request, client, scopes: await this.#grantable(request, client, visitor) };
  }

  /**
   * Stores a consent request for the device page and returns its id for the form. Operations that
   * end a user's consent requests then also end this one.
   */
  async keepQuestion({ request, client, scopes }: OpenRequest, { user }: Visitor): Promise<string> {
    const { store, pruning } = this.#server;
    const id = randomToken();
    await store.consentRequests.insertConsentRequest({
      idHash: tokenHash(id),
      // No browser session has an empty hash, so the consent page never shows this request.
      browserHash: '',
      clientId: request.clientId,
      redirectUri: '',
      scopes: request.scopes,
      state: null,
      nonce: null,
      codeChallenge: '',
      audience: request.audience,
      thumbprint: null,
      asked: { person: user.reference, scopes },
      ...renewalOf(client),
      outcome: null,
      expiresAt: request.expiresAt,
    });
    await pruning.tick();
    return id;
  }

  /**
   * Allows the device request, for those of the shown scopes that the user can still allow. Returns
   * false if no such scope remains, or if one of the requests can no longer be answered. Returns
   * true if this user has already allowed the device request.
   */
  async allow(userCode: string, question: AnsweredQuestion, visitor: Visitor): Promise<boolean> {
    const { audit, store, clock } = this.#server;
    const open = await this.findOpen(userCode, visitor);
    const scopes = open === null ? [] : intersectScopes(question.scopes, open.scopes);
    const asked = await this.#find(question, visitor);
    if (open === null || scopes.length === 0 || asked?.outcome !== null)
      return this.#isAllowedBy(userCode, visitor);
    const { request } = open;
    const { clientId, audience } = request;
    const person = visitor.user.reference;
    // The consent request was stored before this statement reads the subject. If the user is erased
    // at this moment, the erasure either ends the consent request or finds the authorization.
    const candidate = randomIdentifier();
    const subject = await store.subjects.assignSubjectWhile(asked.idHash, person, candidate);
    if (subject === null) return false;
    const details = await this.#parts.authorizationDetails(visitor.request);
    const now = clock();
    const id = orderedIdentifier(now);
    // Only this hash and the authorization's id connect the device request with the authorization.
    // The token behind the hash is discarded, so no string can be used as an authorization code.
    const hash = tokenHash(randomToken());
    const allowed = {
      family: { id, clientId, person, subject, scopes, audience, thumbprint: null, details },
      code: {
        hash,
        expiresAt: Math.max(request.expiresAt, now + FETCH_TIME),
        parameters: { redirectUri: '', codeChallenge: '', nonce: null, ...renewalFor(asked) },
      },
    };
    if (!(await this.#codes.allow(request.userHash, asked.idHash, allowed, now)))
      return this.#isAllowedBy(userCode, visitor);
    await audit({ type: 'consent_granted', authorization: id, clientId, person, scopes, audience });
    return true;
  }

  /**
   * Denies the device request. Returns false if the user has already allowed it, or if one of the
   * requests can no longer be answered.
   */
  async deny(userCode: string, question: AnsweredQuestion, visitor: Visitor): Promise<boolean> {
    const { audit, clock, store } = this.#server;
    const asked = await this.#find(question, visitor);
    if (asked === null) return false;
    if (asked.outcome === null)
      await store.consentRequests.answerConsent(asked, null, { allow: false, at: clock() });
    if ((await this.#find(question, visitor))?.outcome !== 'denied') return false;
    const request = await this.#codes.findByUser(tokenHash(userCode));
    if (request === null || !(await this.#codes.deny(request.userHash, clock()))) return false;
    if (request.outcome === null)
      await audit({
        type: 'consent_denied',
        clientId: request.clientId,
        person: visitor.user.reference,
      });
    return true;
  }

  /**
   * Returns the consent request if the device page showed it to this user. Otherwise, or if it was
   * removed, returns null.
   */
  async #find({ id }: AnsweredQuestion, { user }: Visitor): Promise<ConsentRequest | null> {
    const found = await this.#server.store.consentRequests.findConsentRequest(tokenHash(id));
    return found !== null && samePerson(found.asked.person, user.reference) ? found : null;
  }

  /**
   * Returns true if this user has already allowed the device request. For example, a browser may
   * send the form twice.
   */
  async #isAllowedBy(userCode: string, { user }: Visitor): Promise<boolean> {
    const granted = (await this.#codes.findByUser(tokenHash(userCode)))?.granted ?? null;
    if (granted === null) return false;
    const code = await this.#server.store.codes.findCode({
      id: granted.familyId,
      hash: granted.hash,
    });
    return code !== null && samePerson(code.family.person, user.reference);
  }

  async #grantable(
    { scopes: requested, audience }: DeviceRequest,
    client: Client,
    { user }: Visitor,
  ): Promise<readonly string[]> {
    const { host, resources } = this.#server;
    const catalog = resources.scopesOf(audience);
    return scopesHeldBy(
      host,
      catalog,
      scopesInForce(requested, client.scopes, catalog),
      user.reference,
    );
  }
}
