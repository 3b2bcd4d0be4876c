import type { AssertedAccount } from '../host.ts';
import type { PersonReference } from '../person.ts';
import type { Details } from './grant.ts';

/**
 * Access to people's accounts that an organization gave in place of the person. A feature provides
 * this. It marks these authorizations with the detail `given_by`, and checks them again at each
 * use.
 */
export interface GivenAccess {
  /** Returns why the access is not valid any more, for the log. Returns null if it is valid. */
  refusal(access: AccessInUse): Promise<string | null>;
  /**
   * Refuses access from organizations for this person from now on, for this client or for all
   * clients (null), even if no organization has given it yet. Call this before you revoke the
   * authorizations. Returns false and changes nothing if there is no such person.
   */
  end(person: PersonReference, clientId: string | null): Promise<boolean>;
  /**
   * Removes everything about this person; what was ended stays ended, without the person's name.
   * Call this after the subject was removed. Returns false if there was nothing.
   */
  forget(person: PersonReference): Promise<boolean>;
}

/** An access token from an authorization that an organization gave. */
export interface AccessInUse {
  readonly person: PersonReference;
  readonly clientId: string;
  /** When the token was issued, in milliseconds since 1970. */
  readonly issuedAt: number;
  /** The details of the token's authorization. */
  readonly details: Details;
}

/** Returns the issuer that gave an authorization. Null if the person gave it. */
export function givenBy(details: Details | undefined): string | null {
  const issuer = details?.['given_by'];
  return typeof issuer === 'string' ? issuer : null;
}

/** Returns the details that mark an authorization as given for this account at an issuer. */
export function givenDetails({ issuer, tenant, subject }: AssertedAccount): Details {
  return { given_by: issuer, given_tenant: tenant, given_subject: subject };
}

/** Returns the account at an issuer that an organization gave the authorization for. */
export function givenFor(details: Details): AssertedAccount {
  const { given_tenant: tenant, given_subject: subject } = details;
  return {
    issuer: givenBy(details) ?? '',
    tenant: typeof tenant === 'string' ? tenant : null,
    subject: typeof subject === 'string' ? subject : '',
  };
}
