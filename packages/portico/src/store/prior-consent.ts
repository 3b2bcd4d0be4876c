import type { SqlConnection } from '@portico/sql';
import type { PersonReference } from '../person.ts';
import type { Client } from './client.ts';
import type { Details } from './grant.ts';
import type { AuthorizationRequest, ConsentRequest } from './requests.ts';

/** The consent that the server would ask for on the consent page. */
export interface AskedConsent {
  readonly asked: AuthorizationRequest;
  readonly client: Client;
  readonly person: PersonReference;
  /**
   * The scopes that the consent page would show, without the scopes that the client did not request
   * (`ChoosableScopes.added`). Never empty.
   */
  readonly scopes: readonly string[];
}

/**
 * Finds an earlier authorization that covers this request, so that the server can skip the consent
 * page. A feature implements this interface. Portico checks that the earlier authorization is still
 * active before it writes the new authorization. The new authorization's details name the earlier
 * authorization (`goesBackTo`).
 */
export interface PriorConsent {
  /** Returns the earlier authorization, or null if the server must show the consent page. */
  find(consent: AskedConsent): Promise<PriorAuthorization | null>;
}

/**
 * Called with the person's answer on the consent page, before the server stores the answer.
 * `allowed` lists the shown scopes (`request.asked.scopes`) that the person allows.
 */
export type ConsentAnswered = (
  request: ConsentRequest,
  allowed: readonly string[],
) => Promise<void>;

/**
 * An earlier authorization that covers a new request. The server can therefore skip the consent
 * page.
 */
export interface PriorAuthorization {
  readonly id: string;
  /** The earlier authorization's details. */
  readonly details?: Details | undefined;
  /**
   * Whether the consent still covers the new authorization. Called in the transaction that writes
   * the new authorization. The earlier authorization cannot change during that transaction.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/**
 * Returns the details for a new authorization that `prior` covers. `prior` may itself be based on
 * an earlier authorization, and so on. The details contain the lowest id in this chain.
 */
export function priorDetails({ id, details }: PriorAuthorization): Details {
  const lowest = lowestPrior(details);
  return { prior: lowest !== null && lowest < id ? lowest : id };
}

/**
 * Returns whether this authorization skipped the consent page because of an earlier authorization
 * whose id is at most `newest`. An operation that ends access also ends the authorizations for
 * which this is true. It ignores authorizations that people allow on the consent page in the
 * meantime. Otherwise, it might never finish.
 */
export function goesBackTo(newest: string, details: Details | undefined): boolean {
  const lowest = lowestPrior(details);
  return lowest !== null && lowest <= newest;
}

/**
 * Returns the lowest id in the chain of earlier authorizations, or null if the person answered on
 * the consent page.
 */
function lowestPrior(details: Details | undefined): string | null {
  return (details?.['prior'] as string | undefined) ?? null;
}
