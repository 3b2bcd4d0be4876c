import type { AssertedAccount } from '../host/host.ts';
import type { PersonReference } from '../person.ts';
import type { Details } from './grant.ts';

/**
 * Access to a person's account that an organization granted for the person. A feature implements
 * this interface. It marks these authorizations with the detail `given_by`, and checks an
 * authorization each time one of its tokens is used.
 */
export interface GivenAccess {
  /**
   * Returns the reason why the access is no longer valid, for the log. Returns null if the access
   * is still valid.
   */
  refusal(access: AccessInUse): Promise<string | null>;
  /**
   * Stops organizations from granting this client (null: any client) access to this person's
   * account, even if no organization has granted such access yet. Call this before you revoke the
   * authorizations. If `clientId` is null and the person does not exist, changes nothing and
   * returns false.
   */
  end(person: PersonReference, clientId: string | null): Promise<boolean>;
  /**
   * Removes everything that is stored about this person. Remove the person's subject first. Access
   * that has ended stays ended, but the row that records this no longer names the person. Returns
   * false if nothing was stored.
   */
  forget(person: PersonReference): Promise<boolean>;
}

/** An access token that was issued for access granted by an organization. */
export interface AccessInUse {
  readonly person: PersonReference;
  readonly clientId: string;
  /** When the token was issued, in milliseconds since 1970. */
  readonly issuedAt: number;
  /** The details of the token's authorization. */
  readonly details: Details;
}

/**
 * Returns the issuer of the organization that granted an authorization, or null if the person
 * granted it.
 */
export function givenBy(details: Details | undefined): string | null {
  const issuer = details?.['given_by'];
  return typeof issuer === 'string' ? issuer : null;
}

/**
 * Returns the details for an authorization that an organization grants. The details name the
 * account at the organization's issuer.
 */
export function givenDetails({ issuer, tenant, subject }: AssertedAccount): Details {
  return { given_by: issuer, given_tenant: tenant, given_subject: subject };
}

/** Returns the account at the organization's issuer for which the authorization was granted. */
export function givenFor(details: Details): AssertedAccount {
  const { given_tenant: tenant, given_subject: subject } = details;
  return {
    issuer: givenBy(details) ?? '',
    tenant: typeof tenant === 'string' ? tenant : null,
    subject: typeof subject === 'string' ? subject : '',
  };
}
