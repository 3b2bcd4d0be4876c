import type { SqlConnection } from '@portico/sql';
import type { Details } from './grant.ts';

/** An authorization because of which another one begins without a question. */
export interface RememberedAuthorization {
  readonly id: string;
  /**
   * Whether it still counts. Called in the transaction that writes the new authorization, in which
   * this one cannot change any more.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/** What an authorization keeps about the consent, while consent is remembered for its client. */
export interface KeptConsent {
  /**
   * If the consent page was left out: the lowest id of the authorizations that this one goes back
   * to. Null if the person answered the page.
   */
  readonly origin: string | null;
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

/** Returns what an authorization keeps that begins without a question because of this one. */
export function inheritedConsent({ id, consent }: { id: string; consent: KeptConsent }): Details {
  const { origin } = consent;
  return consentDetails({ ...consent, origin: origin !== null && origin < id ? origin : id });
}

/**
 * Whether the authorization began without a question because of one whose id is at most `newest`.
 * What ends access ends it as well, and leaves what the person allows on the page meanwhile. So it
 * comes to an end even if people allow access again and again.
 */
export function goesBackTo(newest: string, details: Details | undefined): boolean {
  const origin = consentOf(details)?.origin ?? null;
  return origin !== null && origin <= newest;
}
