import type { AssertedAccount } from '../host/host.ts';
import type { PersonReference } from '../person.ts';
import type { Details } from './grant.ts';

/**
 * Access to a person's account that an organization granted. A feature implements this interface.
 * It marks these authorizations with the detail `given_by`, and checks them each time a token is
 * used.
 */
export interface GivenAccess {
  /** Returns why the access is no longer valid, for the log, or null. */
  refusal(access: AccessInUse): Promise<string | null>;
  /**
   * Stops organizations from granting this client access to this person's account, or any client if
   * null. This includes access that does not exist yet. Call this before you revoke the
   * authorizations. If `clientId` is null and the person does not exist, changes nothing and
   * returns false.
   */
  end(person: PersonReference, clientId: string | null): Promise<boolean>;
  /**
   * Removes what is stored about this person. Remove the person's subject first. Ended access stays
   * ended, but its row no longer names the person. Returns false if nothing was stored.
   */
  forget(person: PersonReference): Promise<boolean>;
}

/** A token for access that an organization granted. */
export interface AccessInUse {
  readonly person: PersonReference;
  readonly clientId: string;
  /** In milliseconds since 1970. */
  readonly issuedAt: number;
  readonly details: Details;
}

/** Returns the issuer of the organization, or null if the person granted the authorization. */
export function givenBy(details: Details | undefined): string | null {
  const issuer = details?.['given_by'];
  return typeof issuer === 'string' ? issuer : null;
}

/** The details name the account at the organization's issuer. */
export function givenDetails({ issuer, tenant, subject }: AssertedAccount): Details {
  return { given_by: issuer, given_tenant: tenant, given_subject: subject };
}

/** Returns the account at the organization's issuer. */
export function givenFor(details: Details): AssertedAccount {
  const { given_tenant: tenant, given_subject: subject } = details;
  return {
    issuer: givenBy(details) ?? '',
    tenant: typeof tenant === 'string' ? tenant : null,
    subject: typeof subject === 'string' ? subject : '',
  };
}
