import { actedBy, type Acting } from '../../auditing/audit.ts';
import { AccessError } from '../../errors.ts';
import type { AssertedAccount } from '../../host/host.ts';
import { requirePage, requirePerson } from '../../grants/held-access.ts';
import { samePerson, type PersonReference } from '../../person.ts';
import { quotedPublic, quotedUri } from '../../quoting.ts';
import type { Server } from '../../server.ts';
import { givenFor, type AccessInUse, type GivenAccess } from '../../store/given-access.ts';
import type { Link, LinkPage, Links } from './links.ts';
import type { Pair, Pairs } from './pairs.ts';

/** The maximum length of `iss` and `sub`, in characters. */
const LONGEST = 255;

/**
 * Manages the access that organizations give through their identity providers. Stores links between
 * subjects and accounts, and access that has ended.
 */
export class OrganizationAccess implements GivenAccess {
  readonly #server: Server;
  readonly #links: Links;
  readonly #pairs: Pairs;

  /** Portico calls this constructor. Applications use the server's member `organizationAccess`. */
  constructor(server: Server, links: Links, pairs: Pairs) {
    this.#server = server;
    this.#links = links;
    this.#pairs = pairs;
  }

  /**
   * Returns the account of the issuer's subject, or null. If the host has `accountFor`, the host
   * decides. Otherwise, the link decides. Ignores a link that was created after the token was
   * issued (`issuedAt`, in milliseconds since 1970).
   */
  async accountFor(
    { issuer, tenant, subject }: AssertedAccount,
    issuedAt: number,
  ): Promise<PersonReference | null> {
    const { accountFor } = this.#server.host;
    if (accountFor !== null) return accountFor({ issuer, tenant, subject });
    const link = await this.#links.find({ issuer, tenant, subject });
    return link !== null && link.createdAt <= issuedAt ? link.person : null;
  }

  async refusal({ person, clientId, issuedAt, details }: AccessInUse): Promise<string | null> {
    const { trustedIssuers } = this.#server;
    const account = givenFor(details);
    if (!trustedIssuers.trusts(account.issuer, 'people'))
      return 'the issuer that gave the access is no longer trusted';
    if (trustedIssuers.tenantOf(account.issuer) !== account.tenant)
      return 'the tenant that gave the access is no longer the tenant of its issuer';
    const means = await this.accountFor(account, issuedAt);
    if (means === null || !samePerson(means, person))
      return 'the account is no longer linked to the subject that the issuer named';
    if (!(await this.#pairs.isValid({ person, clientId }, issuedAt)))
      return 'the person or an operator has ended the access that the organization gave';
    return null;
  }

  async end(person: PersonReference, clientId: string | null): Promise<boolean> {
    const now = this.#server.clock();
    if (clientId !== null) await this.#pairs.end({ person, clientId }, now);
    else if (await this.#isKnown(person)) await this.#pairs.endAll(person, now);
    else return false;
    return true;
  }

  async forget(person: PersonReference): Promise<boolean> {
    return this.#server.database.transaction(async (connection) => {
      const hadLinks = await this.#links.removeOfPerson(person, connection);
      return (await this.#pairs.removeOfPerson(person, connection)) || hadLinks;
    });
  }

  /**
   * Lists one page of links in an order that never changes. `limit` is from 1 to 1000. `after` is
   * `next` of the previous page. Throws an AccessError for another limit or cursor.
   */
  async list(limit: number, after?: string): Promise<LinkPage> {
    requirePage(limit, after);
    return this.#links.list(limit, after);
  }

  /**
   * Links a subject to an account, in the tenant that is configured for the issuer. Throws an
   * AccessError in these cases:
   *
   * - The account does not exist.
   * - The subject is linked to another account.
   * - The issuer may not assert people.
   * - The host has `accountFor`.
   */
  async link(account: LinkedSubject, given: PersonReference, acting?: Acting): Promise<void> {
    const { trustedIssuers, accounts, audit, clock, host } = this.#server;
    const { issuer, subject } = requireAccount(account);
    const person = requirePerson(given);
    if (host.accountFor !== null) throw new AccessError(HOST_DECIDES);
    if (!trustedIssuers.trusts(issuer, 'people'))
      throw new AccessError(
        `The issuer ${quotedUri(issuer)} is not in oauth_server:trusted_issuers with asserts: ` +
          "['people']; add it first",
      );
    const user = await accounts.active(person);
    if (user === null) throw new AccessError('No active account has this provider and id');
    const { provider, id } = user.reference;
    if (!samePerson(user.reference, person))
      throw new AccessError(
        'The application returned another account for this provider and id: ' +
          `${quotedPublic(provider)} ${quotedPublic(id)}`,
      );
    const tenant = trustedIssuers.tenantOf(issuer);
    const linked = { issuer, tenant, subject };
    if (await this.#links.add({ ...linked, person, createdAt: clock() })) {
      await audit({ type: 'subject_linked', person, issuer, tenant, ...actedBy(acting) });
      return;
    }
    const link = await this.#links.find(linked);
    if (link !== null && samePerson(link.person, person)) return;
    throw new AccessError('The subject is linked to another account; remove that link first');
  }

  /**
   * Removes the subject's links in every tenant. Tokens that were issued through these links stop
   * working immediately. Throws an AccessError if the subject has no link, if a link may still
   * exist, or if lists may still show authorizations of a removed link.
   */
  async unlink(account: LinkedSubject, acting?: Acting): Promise<void> {
    const { issuer, subject } = requireAccount(account);
    let removed = 0;
    let remains: keyof typeof UNFINISHED | null = null;
    for (const link of await this.#links.findInTenants(issuer, subject)) {
      let isRemoved = false;
      try {
        isRemoved = await this.#links.remove(link);
        if (!isRemoved) continue;
        removed += 1;
        await this.#endUnlinked(link, acting);
      } catch (exception) {
        if (removed === 0) throw exception;
        // Remove the other links too, because the access of each ends with its link.
        remains = isRemoved ? (remains ?? 'listed') : 'linked';
        this.#server.host.log.error('A subject was not unlinked completely: {exception}', {
          exception,
        });
      }
    }
    if (remains !== null) throw new AccessError(UNFINISHED[remains]);
    if (removed === 0)
      throw new AccessError(
        'No account is linked to this subject of this issuer; see oauth:link:list',
      );
  }

  /**
   * Undoes the end of access: organizations can give this client access again. If `clientId` is
   * null, this applies to all clients except those whose access was ended individually. Throws an
   * AccessError if the access was not ended.
   */
  async allow({ person: given, clientId }: Ended, acting?: Acting): Promise<void> {
    const person = requirePerson(given);
    const { audit, clock } = this.#server;
    if (clientId === null) await this.#allowAll(person, clock());
    else await this.#allowOne({ person, clientId }, clock());
    await audit({ type: 'access_allowed', person, clientId, ...actedBy(acting) });
  }

  async #allowAll(person: PersonReference, now: number): Promise<void> {
    if (await this.#pairs.allowAll(person, now)) return;
    throw new AccessError(
      'There is nothing to undo: access was not ended for all clients of this person. To ' +
        'allow a single client again, pass its id',
    );
  }

  async #allowOne(pair: Pair, now: number): Promise<void> {
    const client = await this.#server.store.clients.findClient(pair.clientId);
    if (client !== null && (await this.#pairs.allow(pair, now))) return;
    throw new AccessError(
      "There is nothing to undo: no organization's access was ended for this person and client",
    );
  }

  /**
   * Returns true if Portico or the host knows the user. Asks Portico's store first, so an operator
   * can end access while the host does not respond.
   */
  async #isKnown(person: PersonReference): Promise<boolean> {
    const { store, host } = this.#server;
    if (await store.subjects.hasSubject(person)) return true;
    if (await this.#links.hasPerson(person)) return true;
    const user = await host.loadAccount(person);
    return user !== null && samePerson(user.reference, person);
  }

  /**
   * Revokes the authorizations that were created through this removed link. Otherwise, lists would
   * still show them.
   */
  async #endUnlinked({ person, issuer, tenant, subject }: Link, acting?: Acting): Promise<void> {
    const { store, audit, clock } = this.#server;
    await audit({ type: 'subject_unlinked', person, issuer, tenant, ...actedBy(acting) });
    const found = await store.authorizations.listAuthorizations(person, clock());
    for (const { family } of found) {
      const { id: authorization, clientId, details = {} } = family;
      const given = givenFor(details);
      if (given.issuer !== issuer || given.tenant !== tenant || given.subject !== subject) continue;
      if (!(await store.authorizations.revokeFamily(authorization, clock()))) continue;
      const about = { authorization, clientId, person, ...actedBy(acting) };
      await audit({ type: 'family_revoked', ...about, reason: 'operator' });
    }
  }
}

/** A subject of an issuer. Its tenant is in the configuration. */
export type LinkedSubject = Omit<AssertedAccount, 'tenant'>;

/** If `clientId` is null, the access of all clients has ended. */
interface Ended {
  readonly person: PersonReference;
  readonly clientId: string | null;
}

const HOST_DECIDES =
  'The application decides which account a subject means (Host.accountFor), so this server ' +
  'has no links';

/** What may remain if the store fails while a subject is unlinked. */
const UNFINISHED = {
  listed:
    'The subject is no longer linked. But the store failed before all of its authorizations ' +
    'were revoked, so oauth:authorization:list may still show some; revoke them with ' +
    'oauth:authorization:revoke',
  linked:
    'The store failed before the subject was unlinked in each tenant; remove the link again. ' +
    'oauth:authorization:list may still show authorizations of a removed link; revoke them ' +
    'with oauth:authorization:revoke',
} as const;

function requireAccount({ issuer, subject }: LinkedSubject): LinkedSubject {
  for (const [name, text] of Object.entries({ issuer, subject })) {
    if (text === '' || text.length > LONGEST || !text.isWellFormed() || text.includes('\0'))
      throw new AccessError(`The ${name} must be a string of 1 to ${LONGEST} characters`);
  }
  return { issuer, subject };
}
