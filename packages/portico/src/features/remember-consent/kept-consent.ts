import type { Details } from '../../store/grant.ts';

/** What an authorization keeps about the consent, while consent is remembered for its client. */
export interface KeptConsent {
  /** Whether the page said that the access continues: the client had refresh tokens. */
  readonly renews: boolean;
  /** Whether the person has later refused some of it on the page. It then covers no request. */
  readonly refused?: true;
}

/** Returns the details that mark an authorization as consent that is remembered. */
export function consentDetails(consent: KeptConsent): Details {
  return { consent };
}

/**
 * Returns what an authorization keeps about the consent. Null if it is not remembered: the person
 * allowed it elsewhere, such as for a device, or an organization gave it.
 */
export function consentOf(details: Details | undefined): KeptConsent | null {
  return (details?.['consent'] as KeptConsent | undefined) ?? null;
}
