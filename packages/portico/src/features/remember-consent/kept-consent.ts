import type { Details } from '../../store/grant.ts';

/** A user's consent, stored with an authorization of a first-party client. */
export interface KeptConsent {
  /**
   * Whether the consent page told the user that the client's access continues until the user
   * removes it. The page shows this text for clients that can have refresh tokens.
   */
  readonly renews: boolean;
  /**
   * Whether the user later refused some of this access on the consent page. If so, this
   * authorization no longer lets the server skip the page.
   */
  readonly refused?: true;
}

/** Returns the authorization details that store this consent. */
export function consentDetails(consent: KeptConsent): Details {
  return { consent };
}

/**
 * Returns the consent from the details of an authorization, or null. For example, the authorization
 * of a device, or one from an organization, has no consent.
 */
export function consentOf(details: Details | undefined): KeptConsent | null {
  return (details?.['consent'] as KeptConsent | undefined) ?? null;
}
