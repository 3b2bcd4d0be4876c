import type { Visitor } from '../host/accounts.ts';
import type { Clients } from '../clients/clients.ts';
import { tokenHash } from '../crypto.ts';
import { getRequestId } from '../http/request-id.ts';
import { samePerson } from '../person.ts';
import { quotedUri } from '../quoting.ts';
import { noteClient } from '../refusals.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { NO_DEMANDS } from '../store/client-demands.ts';
import { asDescribed } from '../store/renewal.ts';
import type { ConsentRequest } from '../store/requests.ts';
import { intersectScopes } from '../tokens/scopes.ts';
import { noteWish } from '../pages/speaking.ts';
import type { AuthorizationAdditions } from './additions.ts';
import { answeredBefore, notAccepted, notAnswerable } from './consent-errors.ts';
import { isConsentToken } from './consent-question.ts';
import { getIndirectRefusal } from './direct-requests.ts';
import { registeredScopes } from './grantable-scopes.ts';

/**
 * Requests that the consent page has shown. Each one is bound to the person who saw it and to their
 * browser session. The methods throw a page error for any other visitor.
 */
export class SavedRequests {
  readonly #server: Server;
  readonly #clients: Clients;
  readonly #additions: AuthorizationAdditions;

  constructor(server: Server, clients: Clients, additions: AuthorizationAdditions) {
    this.#server = server;
    this.#clients = clients;
    this.#additions = additions;
  }

  /**
   * Returns the request if this visitor can answer it now. Returns null if no request has this id.
   */
  async findPending(requestId: string, visitor: Visitor): Promise<ConsentRequest | null> {
    const saved = await this.#findOwn(requestId, visitor);
    return saved === null ? null : this.requireOpen(saved);
  }

  /** Returns the request if this visitor can answer it now. */
  async requirePending(requestId: string, visitor: Visitor): Promise<ConsentRequest> {
    return this.requireOpen(await this.requireOwn(requestId, visitor));
  }

  /** Returns the request if this visitor has seen it, even if it was already answered. */
  async requireOwn(requestId: string, visitor: Visitor): Promise<ConsentRequest> {
    const saved = await this.#findOwn(requestId, visitor);
    if (saved === null) throw notAnswerable('the consent request is unknown, or expired long ago');
    return saved;
  }

  /**
   * Returns the request if this visitor has seen it. Returns null if no request has this id. Throws
   * a page error for another browser session or another person. Another person also ends the
   * request.
   */
  async #findOwn(requestId: string, visitor: Visitor): Promise<ConsentRequest | null> {
    const { store } = this.#server;
    const saved = await store.consentRequests.findConsentRequest(tokenHash(requestId));
    if (saved === null) return null;
    noteClient(visitor.request, saved.clientId);
    if (saved.uiLocales !== undefined) noteWish(visitor.request, saved.uiLocales.split(' '));
    if (!this.#matchesBrowser(saved, visitor))
      throw notAnswerable('the consent request was shown in another browser session');
    if (!samePerson(saved.asked.person, visitor.user.reference)) {
      await this.end(saved);
      throw notAnswerable('the consent request was shown to another person');
    }
    return saved;
  }

  /** Throws a page error if the request was answered, has ended or has expired. */
  requireOpen(saved: ConsentRequest): ConsentRequest {
    const { clock, paths } = this.#server;
    if (saved.outcome === 'allowed' || saved.outcome === 'denied') {
      throw answeredBefore(saved.outcome, this.#additions.accessPath ?? paths.home);
    }
    if (saved.outcome === 'void')
      throw notAnswerable('the consent request has ended without an answer');
    if (saved.expiresAt <= clock()) throw notAnswerable('the consent request has expired');
    return saved;
  }

  /**
   * Finds out why a request could not be changed after Portico read it. Throws a page error if the
   * request is no longer open. Otherwise returns an error for the caller to throw.
   */
  async endedMeanwhile(requestId: string, visitor: Visitor): Promise<Error> {
    await this.findPending(requestId, visitor);
    return notAnswerable(
      'at the same time, the consent request was shown again with other scopes, or the session ended',
    );
  }

  /**
   * Returns the client as the consent page described it. Throws a page error if the client was
   * revoked or refused, or must now send its requests directly.
   *
   * Also throws unless the client still has this redirect URI and one of the requested scopes.
   * These two checks skip document clients, whose documents may change at any time.
   */
  async requireClient(saved: ConsentRequest): Promise<Client> {
    const { indirectRefusals, mayRedirect, responseModes } = this.#additions;
    const { clientId, redirectUri, shownName } = saved;
    const client = await this.#clients.find(clientId);
    if (client === null || client.revokedAt !== null) {
      throw notAnswerable(`the client ${clientId} was revoked`);
    }
    if (client.grants.length === 0) {
      throw notAnswerable(
        `the client ${clientId} was unblocked, and its document has not been fetched since then`,
      );
    }
    responseModes.of(saved);
    const refusal = this.#server.profiles.refusal(client);
    if (refusal !== null) throw notAnswerable(`the client ${clientId} is refused: ${refusal}`);
    // Ignore the requirements of a document. It may have changed since the page was shown.
    const demands = shownName === undefined ? client : NO_DEMANDS;
    const refused = saved.direct === true ? null : getIndirectRefusal(demands, indirectRefusals);
    if (refused !== null) throw notAnswerable(refused.detail ?? refused.message);
    if (shownName !== undefined) return asShown(saved, client);
    if (!mayRedirect(client, redirectUri)) {
      throw notAnswerable(
        `the client ${clientId} is no longer registered with the ` +
          `redirect_uri ${quotedUri(redirectUri)}`,
      );
    }
    if (intersectScopes(saved.asked.scopes, registeredScopes(saved, client)).length === 0) {
      throw notAnswerable(
        `the client ${clientId} is no longer registered for any of the requested scopes`,
      );
    }
    return asShown(saved, client);
  }

  /**
   * Returns true if the consent page was shown in this browser session. If not, logs a warning
   * while the request is pending (AS-8.10).
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

  async requireCsrfToken(requestId: string, visitor: Visitor, csrfToken: string): Promise<void> {
    const { store } = this.#server;
    if (isConsentToken(csrfToken, requestId, visitor)) return;
    const saved = await store.consentRequests.findConsentRequest(tokenHash(requestId));
    if (saved !== null) this.#matchesBrowser(saved, visitor);
    throw notAccepted('the csrf_token is not valid for this request and browser session');
  }

  end({ idHash }: ConsentRequest): Promise<void> {
    return this.#server.store.consentRequests.voidConsentRequest(idHash);
  }
}

/**
 * Keeps the name that was shown. Removes refresh tokens if the page said that access does not
 * continue.
 */
function asShown(saved: ConsentRequest, client: Client): Client {
  const { shownName: name } = saved;
  return { ...asDescribed(client, saved), ...(name === undefined ? {} : { name }) };
}

const ANOTHER_SECRET =
  'The browser secret has changed since the consent page for the client {clientId} was shown. ' +
  'Unless the page was open in another browser or another person signed in, the sign-in ' +
  'has started a new session without the old secret. To fix this, remove ' +
  'Host.browserSecret, so that Portico sets a cookie. Or keep the secret in the new ' +
  'session (keepSessionInfo: true for passport, ' +
  'session.regenerate([...]) for @fastify/session). See docs/host-contract.md';
