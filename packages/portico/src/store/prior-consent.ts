import type { SqlConnection } from '@portico/sql';
import type { PersonReference } from '../person.ts';
import type { Client } from './client.ts';
import type { Details } from './grant.ts';
import type { AuthorizationRequest, ConsentRequest } from './requests.ts';

/** The question on the consent page. */
export interface AskedConsent {
  readonly asked: AuthorizationRequest;
  readonly client: Client;
  readonly person: PersonReference;
  /** The scopes that the page would show. Never empty. */
  readonly scopes: readonly string[];
}

/**
 * Finds an earlier authorization that covers this consent, so that the server can skip the consent
 * page. A feature implements this interface.
 *
 * Portico makes sure that the earlier authorization is active when it writes the new one. It also
 * records in the new authorization which one started it (`goesBackTo`).
 */
export interface PriorConsent {
  /** Returns the earlier authorization, or null if the server must show the consent page. */
  find(consent: AskedConsent): Promise<PriorAuthorization | null>;
}

/**
 * Called with a person's answer on the consent page, before the answer is stored. `allowed` lists
 * which of the shown scopes (`request.asked.scopes`) the person allows.
 */
export type ConsentAnswered = (
  request: ConsentRequest,
  allowed: readonly string[],
) => Promise<void>;

/**
 * An earlier authorization whose consent also covers a new one, so that the consent page is
 * skipped.
 */
export interface PriorAuthorization {
  readonly id: string;
  /** The earlier authorization's details. */
  readonly details?: Details | undefined;
  /**
   * Whether the consent still covers the new authorization. Called in the transaction that writes
   * the new authorization. The earlier one cannot change during that transaction.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/**
 * Returns the details for an authorization that `prior` starts. They contain the lowest id of all
 * earlier authorizations in the chain.
 */
export function priorDetails({ id, details }: PriorAuthorization): Details {
  const lowest = lowestPrior(details);
  return { prior: lowest !== null && lowest < id ? lowest : id };
}

/**
 * Whether this authorization was started without the consent page, by an earlier one whose id is at
 * most `newest`.
 *
 * An operation that ends access also ends these authorizations. It does not end authorizations that
 * people allow on the page in the meantime. So it finishes even if people keep allowing access.
 */
export function goesBackTo(newest: string, details: Details | undefined): boolean {
  const lowest = lowestPrior(details);
  return lowest !== null && lowest <= newest;
}

/**
 * Returns the lowest id of the earlier authorizations in the chain, or null if the person answered
 * on the consent page.
 */
function lowestPrior(details: Details | undefined): string | null {
  return (details?.['prior'] as string | undefined) ?? null;
}
