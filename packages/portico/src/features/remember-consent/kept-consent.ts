import type { Details } from '../../store/grant.ts';

/** What is stored with an authorization about the consent, if its client remembers consent. */
export interface KeptConsent {
  /** Whether the page said that the access continues: the client had refresh tokens. */
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
