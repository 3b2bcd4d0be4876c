import { samePerson, type PersonReference } from '../person.ts';
import { actedBy, type Acting } from '../auditing/audit.ts';
import { randomIdentifier } from '../crypto.ts';
import { AccessError } from '../errors.ts';
import { quoted, quotedPublic } from '../quoting.ts';
import { BATCH, inBatches, inSteps, type Lasting } from '../store/batches.ts';
import type { Authorization, Details } from '../store/grant.ts';
import type { AuthorizationFilter } from '../store/authorization-search.ts';
import type { Server } from '../server.ts';
import { Erasing, type ErasedPerson, type ForgetsPerson } from './erasing.ts';
import {
  isAuthorizationId,
  listHeld,
  requirePerson,
  type AuthorizationList,
  type AuthorizationPage,
} from './held-access.ts';
import { revokeEachLiving } from './living-access.ts';
import type { EndedAccess, EndsRequests } from './restored-access.ts';

/** The result of revoking an authorization. */
export interface RevokedAuthorization {
  /** The id of the authorization. Knowing the id grants no access. */
  readonly id: string;
  /** The id of the client that had access. */
  readonly clientId: string;
  /** The person who allowed the access. */
  readonly person: PersonReference;
  /** True if this call revoked the authorization. False if it had already ended. */
  readonly revoked: boolean;
}

/** What `revokePerson` ended. */
export interface RevokedPerson {
  /** How many active authorizations this call ended. */
  readonly authorizations: number;
  /** How many consent requests this call ended. The person had not answered them yet. */
  readonly requests: number;
}

interface Holder extends Omit<RevokedAuthorization, 'revoked'> {
  readonly details?: Details;
}

/**
 * Returns true if another authorization of the same person and client must end too. Receives the
 * details of both.
 */
export type RevokesAlso = (revoked: Details | undefined, other: Details | undefined) => boolean;

/**
 * Lists authorizations and ends clients' access. Console commands and administration pages use this
 * class.
 *
 * @example
 * const { items } = await server.access.list({ person });
 * await server.access.revokePerson(person, { by: 'console' });
 */
export class Access {
  readonly #server: Server;
  readonly #forgetting: readonly ForgetsPerson[];
  readonly #revokedAlso: readonly RevokesAlso[];
  readonly #ending: readonly EndsRequests[];

  /** Only Portico calls this constructor. In your code, use the server's `access`. */
  constructor(
    server: Server,
    forgetting: readonly ForgetsPerson[],
    revokedAlso: readonly RevokesAlso[],
    ending: readonly EndsRequests[],
  ) {
    this.#server = server;
    this.#forgetting = forgetting;
    this.#revokedAlso = revokedAlso;
    this.#ending = ending;
  }

  /**
   * Lists the active authorizations that match the filter, newest first. Each page reads at most
   * 5000 rows, or 10,000 with `unusedSince`. So a page can contain fewer items than `limit`, or
   * none, even if more pages follow. Throws an AccessError if the filter or the page is invalid.
   */
  async list(
    filter: AuthorizationFilter = {},
    page: AuthorizationPage = {},
  ): Promise<AuthorizationList> {
    const { store, clock } = this.#server;
    return listHeld(store.authorizationSearch, filter, page, clock());
  }

  /**
   * Ends an authorization with all of its codes and tokens. When the promise resolves, they no
   * longer work. Throws an AccessError if no authorization has this id.
   *
   * With `oauth_server:jwt_bearer_grant`, also ends the access that organizations gave this client
   * to this person's account. They cannot give it again until an administrator allows it.
   */
  async revokeAuthorization(id: string, acting?: Acting): Promise<RevokedAuthorization> {
    return this.#revoke(await this.#requireHolder(id), acting);
  }

  /**
   * Ends several authorizations, one after another. If any id is unknown, throws an AccessError and
   * ends no authorization.
   */
  async revokeAuthorizations(
    ids: readonly string[],
    acting?: Acting,
  ): Promise<readonly RevokedAuthorization[]> {
    const holders: Holder[] = [];
    for (const id of new Set(ids)) holders.push(await this.#requireHolder(id));
    const ended: RevokedAuthorization[] = [];
    for (const holder of holders) ended.push(await this.#revoke(holder, acting));
    return ended;
  }

  /**
   * Ends all access that the person has allowed, and all consent requests that wait for them. Works
   * in batches. When the promise resolves, nothing that the person allowed before the call is
   * valid. The person can allow access again later.
   *
   * With `oauth_server:jwt_bearer_grant`, also ends the access that organizations gave to this
   * person's account. They cannot give it again until an administrator allows it.
   *
   * Throws an AccessError if nothing is stored about the person. If the call fails, call it again
   * to end the remaining access.
   */
  async revokePerson(given: PersonReference, options: Lasting = {}): Promise<RevokedPerson> {
    const { store, audit } = this.#server;
    const { report, ...acting } = options;
    const person = requirePerson(given);
    const isEnded = (await this.#server.givenAccess()?.end(person, null)) ?? false;
    // End the consent requests first. If the person answers one now, the next step ends the new
    // authorization.
    const requests = await this.#endRequests(person);
    const { revoked: authorizations, isKnown } = await this.#revokeAll(person, report);
    if (authorizations === 0 && requests === 0) {
      if (!isEnded && !isKnown && !(await store.subjects.hasSubject(person)))
        throw new AccessError(unknownPerson(person));
      await store.authorizations.confirmRevokedOfPerson(person);
    }
    await audit({ type: 'person_revoked', person, authorizations, ...actedBy(acting) });
    return { authorizations, requests };
  }

  /**
   * Removes all data about a person: authorizations with all codes and tokens, consent requests,
   * and the subject. Works in batches. A random pseudonym replaces the person in stored audit
   * events. The account stays: it belongs to the application. If the person uses a client again,
   * the client gets a new subject identifier.
   *
   * Throws an AccessError if nothing is stored about the person. If the call fails, call it again
   * to remove the remaining data. Each call that removed anything writes an audit event, unless the
   * store failed before it confirmed the first removal.
   */
  async erasePerson(given: PersonReference, { report, by }: Lasting = {}): Promise<ErasedPerson> {
    const person = requirePerson(given);
    const pseudonym = { provider: person.provider, id: `erased-${randomIdentifier()}` };
    const erasing = new Erasing(this.#server, this.#forgetting);
    let isComplete = false;
    try {
      await erasing.erase(person, pseudonym.id, report);
      isComplete = true;
    } finally {
      const isThemself = typeof by === 'object' && samePerson(by, person);
      const acting = by === undefined ? {} : { by: isThemself ? pseudonym : by };
      const { authorizations } = erasing.erased;
      if (erasing.hasErased)
        await this.#server.audit({
          type: 'person_erased',
          person: pseudonym,
          authorizations,
          ...(isComplete ? {} : { complete: false }),
          ...actedBy(acting),
        });
    }
    if (!erasing.hasErased) throw new AccessError(unknownPerson(person));
    return erasing.erased;
  }

  /**
   * Ends all access: authorizations with all codes and tokens, tokens that clients requested for
   * themselves, unanswered requests, and initial access tokens. Works in batches.
   *
   * Call this method after you restore a backup of the database. A backup does not show which
   * tokens were revoked or used later. When the promise resolves, nothing that existed before the
   * call is valid. If the call fails, call it again to end the remaining access.
   */
  async endAll(options?: Lasting): Promise<EndedAccess> {
    const { endAllAccess } = await import('./restored-access.ts');
    return endAllAccess(this.#server, this.#ending, options);
  }

  #endRequests(person: PersonReference): Promise<number> {
    const { consentRequests } = this.#server.store;
    return inSteps((after) => consentRequests.endRequestsOfPerson(person, after, BATCH, false));
  }

  /**
   * Ends the person's authorizations. A new authorization can start from an active one without the
   * consent page (`PriorConsent`). So the method searches again until it finds none.
   */
  async #revokeAll(person: PersonReference, report?: (count: number) => void) {
    const { authorizations } = this.#server.store;
    const now = () => this.#server.clock();
    let newest: string | null = null;
    let goingBackTo: string | null = null;
    let below: string | null = null;
    let isAnyAlive = false;
    const revoked = await inBatches(async () => {
      const batch = await authorizations.revokeOfPerson(person, below, now(), BATCH, goingBackTo);
      newest ??= batch.first;
      isAnyAlive ||= batch.living > 0;
      below = batch.last;
      if (below !== null) {
        // New authorizations may have started from these before they ended.
        isAnyAlive ||= goingBackTo === null;
        return { count: batch.revoked, more: true };
      }
      const more = isAnyAlive;
      [isAnyAlive, goingBackTo] = [false, newest];
      return { count: batch.revoked, more };
    }, report);
    return { revoked, isKnown: newest !== null };
  }

  async #requireHolder(id: string): Promise<Holder> {
    const { authorizations } = this.#server.store;
    const holder = isAuthorizationId(id) ? await authorizations.findHolder(id) : null;
    if (holder === null)
      throw new AccessError(`No authorization has the id ${quoted(id)}. ${SEE_LIST}`);
    return { id, ...holder };
  }

  async #revoke(holder: Holder, acting?: Acting): Promise<RevokedAuthorization> {
    const { store, audit, clock } = this.#server;
    const { id: authorization, clientId, person } = holder;
    // End the organization's access first. Otherwise, it could give access again before the next
    // step.
    await this.#server.givenAccess()?.end(person, clientId);
    const revoked = await store.authorizations.revokeFamily(authorization, clock());
    const about = { authorization, clientId, person, ...actedBy(acting) };
    if (revoked) await audit({ type: 'family_revoked', ...about, reason: 'operator' });
    await this.#revokeOthers(holder, acting);
    return { id: authorization, clientId, person, revoked };
  }

  /** Revokes the person's other authorizations for this client that must end with this one. */
  async #revokeOthers({ person, clientId, details }: Holder, acting?: Acting): Promise<void> {
    const isMeant = ({ family }: Authorization) =>
      family.clientId === clientId &&
      this.#revokedAlso.some((also) => also(details, family.details));
    await revokeEachLiving(this.#server, person, isMeant, { reason: 'operator', ...acting });
  }
}

const SEE_LIST =
  'To list the active authorizations, run oauth:authorization:list. Portico removes ' +
  'authorizations that ended long ago';

function unknownPerson({ provider, id }: PersonReference): string {
  return (
    `Nothing is stored about the person ${quotedPublic(id)} of the provider ` +
    `${quotedPublic(provider)}. The id must match exactly, including case, ` +
    "accents and spaces. For the ids of the kit's accounts, run account:list --json"
  );
}
