import type { Details } from '../../store/grant.ts';

/** A user's consent, stored with an authorization of a first-party client. */
export interface KeptConsent {
  /**
   * True if the consent page said that access continues until the user removes it. The page says
   * this for clients that can have refresh tokens.
   */
  readonly renews: boolean;
  /**
   * Set if the user later refused some of this access. The authorization then no longer lets the
   * server skip the page.
   */
  readonly refused?: true;
}

export function consentDetails(consent: KeptConsent): Details {
  return { consent };
}

/**
 * Returns the consent in the details, or null. An authorization of a device or from an organization
 * has none.
 */
export function consentOf(details: Details | undefined): KeptConsent | null {
  return (details?.['consent'] as KeptConsent | undefined) ?? null;
}
