import type { Details } from '../../store/grant.ts';

/** What is stored with an authorization about the consent, if its client remembers consent. */
export interface KeptConsent {
  /**
   * Whether the consent page said that the access continues. It says so if the client can have
   * refresh tokens.
   */
  readonly renews: boolean;
  /**
   * Whether the person later refused some of this access on the consent page. If so, this
   * authorization no longer allows the server to skip the page.
   */
  readonly refused?: true;
}

/** Returns the details of an authorization that store this consent. */
export function consentDetails(consent: KeptConsent): Details {
  return { consent };
}

/**
 * Returns the consent in the details of an authorization. Returns null if they contain no consent.
 * For example, the person may have allowed a device, or an organization may have given the access.
 */
export function consentOf(details: Details | undefined): KeptConsent | null {
  return (details?.['consent'] as KeptConsent | undefined) ?? null;
}
