import type { Details } from '../../store/grant.ts';

/** The consent that is stored with an authorization of a first-party client. */
export interface KeptConsent {
  /**
   * Whether the consent page said that the client's access continues until the user removes it. The
   * page says so for clients that can have refresh tokens.
   */
  readonly renews: boolean;
  /**
   * Whether the user later refused some of this access on the consent page. The server then no
   * longer skips the page because of this authorization.
   */
  readonly refused?: true;
}

/** Returns the authorization details that store this consent. */
export function consentDetails(consent: KeptConsent): Details {
  return { consent };
}

/**
 * Returns the consent from the details of an authorization. Returns null if the details contain no
 * consent, for example for a device or for access from an organization.
 */
export function consentOf(details: Details | undefined): KeptConsent | null {
  return (details?.['consent'] as KeptConsent | undefined) ?? null;
}
