import { samePerson, type PersonReference } from '../contracts/person.ts';
import { actedBy, type Acting, type Audit } from '../auditing/audit.ts';
import type { KeptAudit } from '../auditing/kept-audit.ts';
import { randomIdentifier } from '../crypto.ts';
import { AccessError } from '../errors.ts';
import { quoted, quotedPublic } from '../quoting.ts';
import { BATCH, inBatches, type Lasting } from '../store/batches.ts';
import type { AuthorizationFilter } from '../store/authorization-search.ts';
import type { Store } from '../store/store.ts';
import { isAuthorizationId, listHeld, type AuthorizationList, type AuthorizationPage } from './listing.ts';
import { requirePerson } from './people.ts';
import type { EndedAccess } from './restored.ts';

/** Who holds access, and its end: for console commands and an administrator's pages. */
export interface Access {
  /**
   * The authorizations that live and fit the filter, newest first. A page looks at five thousand rows at most, so it may have fewer than
   * were asked for, or none, and still be followed by others. Throws an AccessError for what is ill-formed.
   */
  list(filter?: AuthorizationFilter, page?: AuthorizationPage): Promise<AuthorizationList>;
  /**
   * Ends an authorization with all that descends from it: no token of it is taken once this resolves. Throws an AccessError when no
   * authorization has the id.
   */
  revokeAuthorization(id: string, acting?: Acting): Promise<RevokedAuthorization>;
  /** The same for several, each by itself. Throws an AccessError, and ends none, when no authorization has one of the ids. */
  revokeAuthorizations(ids: readonly string[], acting?: Acting): Promise<readonly RevokedAuthorization[]>;
  /**
   * Ends all that the person has allowed, with the requests that wait for their answer, in batches: nothing that was allowed before is
   * good once this resolves. The person may allow applications again. Throws an AccessError for a person of whom nothing is kept. Done
   * again, it ends what is left.
   */
  revokePerson(person: PersonReference, options?: Lasting): Promise<RevokedPerson>;
  /**
   * Removes all that is kept of a person, in batches: what they have allowed with all that descends from it, the requests that were put to
   * them, and their subject; in the kept audit a pseudonym that nobody can tell takes their place. The account is the application's and stays. To
   * applications the person is somebody else from now on. Throws an AccessError for a person of whom nothing is kept. Done again, it removes what is left.
   */
  erasePerson(person: PersonReference, options?: Lasting): Promise<ErasedPerson>;
  /**
   * Ends every authorization with all that descends from it, every token that clients have for themselves, the requests that wait for an answer
   * and the initial access tokens, in batches: for a database that was restored from a backup, which does not know what was revoked or used
   * after it was made. Nothing that was there when this began is good once it resolves. Done again, it ends what is left.
   */
  endAll(options?: Lasting): Promise<EndedAccess>;
}

/** An authorization that has ended. */
export interface RevokedAuthorization {
  /** An identifier, good for nothing by itself. */
  readonly id: string;
  /** The application that held it. */
  readonly clientId: string;
  /** Who gave it. */
  readonly person: PersonReference;
  /** False when it had ended before. */
  readonly revoked: boolean;
}

/** What has ended of a person. */
export interface RevokedPerson {
  /** How many authorizations this call has ended. */
  readonly authorizations: number;
  /** How many requests waited for the person's answer. */
  readonly requests: number;
}

/** What was removed of a person. */
export interface ErasedPerson {
  /** How many authorizations this call has removed, also of those that had ended. */
  readonly authorizations: number;
  /** How many requests that were put to the person, answered or not. */
  readonly requests: number;
  /** Whether there was a subject. */
  readonly subject: boolean;
  /** How many events of the kept audit have a pseudonym now. */
  readonly events: number;
}

export interface AccessOptions {
  readonly store: Store;
  readonly audit: Audit & Pick<KeptAudit, 'pseudonymise'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Which authorization it is, and whose. */
type Holder = Omit<RevokedAuthorization, 'revoked'>;

/** Before the id of every request. */
const FIRST = '';

export function createAccess({ store, audit, clock }: AccessOptions): Access {
  function endRequests(person: PersonReference, forget: boolean): Promise<number> {
    let after: string | null = FIRST;
    return inBatches(async () => {
      const { ended, last } = await store.consentRequests.endRequestsOfPerson(
        person,
        after ?? FIRST,
        BATCH,
        forget,
      );
      after = last;
      return { count: ended, more: last !== null };
    });
  }

  /** How many authorizations were ended, and whether there were any. */
  async function revokeAll(person: PersonReference, report?: (count: number) => void) {
    let below: string | null = null;
    let isKnown = false;
    const revoked = await inBatches(async () => {
      const batch = await store.authorizations.revokeOfPerson(person, below, clock(), BATCH);
      below = batch.last;
      isKnown ||= batch.found > 0;
      return { count: batch.revoked, more: batch.last !== null };
    }, report);
    return { revoked, isKnown };
  }

  async function requireHolder(id: string): Promise<Holder> {
    const holder = isAuthorizationId(id) ? await store.authorizations.findHolder(id) : null;
    if (holder === null) throw new AccessError(`No authorization has the id ${quoted(id)}. ${SEE_LIST}`);
    return { id, ...holder };
  }

  async function revoke(holder: Holder, acting?: Acting): Promise<RevokedAuthorization> {
    const { id: authorization, clientId, person } = holder;
    const revoked = await store.authorizations.revokeFamily(authorization, clock());
    const about = { authorization, clientId, person, ...actedBy(acting) };
    if (revoked) await audit({ type: 'family_revoked', ...about, reason: 'operator' });
    return { ...holder, revoked };
  }

  return {
    list: async (filter = {}, page = {}) => listHeld(store.authorizationSearch, filter, page, clock()),

    revokeAuthorization: async (id, acting) => revoke(await requireHolder(id), acting),

    async revokeAuthorizations(ids, acting) {
      const holders: Holder[] = [];
      for (const id of new Set(ids)) holders.push(await requireHolder(id));
      const ended: RevokedAuthorization[] = [];
      for (const holder of holders) ended.push(await revoke(holder, acting));
      return ended;
    },

    async revokePerson(given, { report, ...acting } = {}) {
      const person = requirePerson(given);
      // What waits for an answer first: what was allowed meanwhile is an authorization by then, and is found.
      const requests = await endRequests(person, false);
      const { revoked: authorizations, isKnown } = await revokeAll(person, report);
      if (authorizations === 0 && requests === 0) {
        if (!isKnown && !(await store.subjects.hasSubject(person)))
          throw new AccessError(unknownPerson(person));
        await store.authorizations.confirmRevokedOfPerson(person);
      }
      await audit({ type: 'person_revoked', person, authorizations, ...actedBy(acting) });
      return { authorizations, requests };
    },

    async erasePerson(given, { report, by } = {}) {
      const person = requirePerson(given);
      const pseudonym = { provider: person.provider, id: `erased-${randomIdentifier()}` };
      // The subject first: whoever has read it is answering a request, which is removed next, or has answered it, and is found then.
      const subject = await store.subjects.forgetSubject(person);
      const requests = await endRequests(person, true);
      const authorizations = await inBatches(async () => {
        const { removed, more } = await store.authorizations.removeFamiliesOfPerson(person, BATCH);
        return { count: removed, more };
      }, report);
      const events = await inBatches(async () => {
        const count = await audit.pseudonymise(person, pseudonym.id, BATCH);
        return { count, more: count > 0 };
      });
      if (!subject && requests + authorizations + events === 0) throw new AccessError(unknownPerson(person));
      const isThemself = typeof by === 'object' && samePerson(by, person);
      const acting = by === undefined ? {} : { by: isThemself ? pseudonym : by };
      await audit({ type: 'person_erased', person: pseudonym, authorizations, ...actedBy(acting) });
      return { authorizations, requests, subject, events };
    },

    async endAll(options) {
      const { endAllAccess } = await import('./restored.ts');
      return endAllAccess({ store, audit, clock }, options);
    },
  };
}

const SEE_LIST = 'See oauth:authorization:list; one that ended long ago is removed';

function unknownPerson({ provider, id }: PersonReference): string {
  return (
    `Nothing is kept here of the person ${quotedPublic(id)} of the provider ${quotedPublic(provider)}. Ids are compared byte by byte: upper case, ` +
    "accents and spaces count; those of the kit's own accounts are in account:list --json"
  );
}
