import type { SqlConnection } from '@portico/sql';
import type { Details } from './grant.ts';

/** An earlier authorization. Because of it, a new one begins without the consent page. */
export interface RememberedAuthorization {
  readonly id: string;
  /**
   * Whether the earlier authorization still covers the request. Called in the transaction that
   * writes the new authorization. Until this transaction ends, the earlier one cannot change.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/** What is stored with an authorization about the consent, if its client remembers consent. */
export interface KeptConsent {
  /** Whether the consent page was left out. False if the person answered it. */
  readonly remembered: boolean;
  /** Whether the page said that the access continues, because the client gets refresh tokens. */
  readonly renews: boolean;
  /**
   * Whether the person later refused some of this access on the consent page. If so, no request
   * begins without the page because of this authorization.
   */
  readonly refused?: true;
}

/** Returns the details of an authorization that store this consent. */
export function consentDetails(consent: KeptConsent): Details {
  return { consent };
}

/**
 * Returns the consent in the details of an authorization. Null if they contain no consent, for
 * example because the person allowed a device, or because an organization gave the access.
 */
export function consentOf(details: Details | undefined): KeptConsent | null {
  return (details?.['consent'] as KeptConsent | undefined) ?? null;
}
