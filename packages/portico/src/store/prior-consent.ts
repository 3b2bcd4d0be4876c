import type { SqlConnection } from '@portico/sql';
import type { PersonReference } from '../person.ts';
import type { Client } from './client.ts';
import type { Details } from './grant.ts';
import type { AuthorizationRequest, ConsentRequest } from './requests.ts';

export interface AskedConsent {
  readonly asked: AuthorizationRequest;
  readonly client: Client;
  readonly person: PersonReference;
  /**
   * The scopes of the consent page, without those that the client did not request
   * (`ChoosableScopes.added`). Never empty.
   */
  readonly scopes: readonly string[];
}

/**
 * Finds an earlier authorization that covers this request, so that the server can skip the consent
 * page. A feature implements this interface.
 *
 * Before Portico writes the new authorization, it checks that the earlier one is still active. The
 * details of the new one name the earlier one (`goesBackTo`).
 */
export interface PriorConsent {
  /** Returns null if the server must show the consent page. */
  find(consent: AskedConsent): Promise<PriorAuthorization | null>;
}

/**
 * Called with the person's answer on the consent page, before the server stores the answer.
 * `allowed` lists the shown scopes (`request.asked.scopes`) that the person allows, and `refused`
 * lists those that they refuse. A scope is in neither if they allow it and the server does not
 * grant it, for example because they lost the permission.
 */
export type ConsentAnswered = (
  request: ConsentRequest,
  allowed: readonly string[],
  refused: readonly string[],
) => Promise<void>;

/** An earlier authorization that covers a new request. The server can skip the consent page. */
export interface PriorAuthorization {
  readonly id: string;
  readonly details?: Details | undefined;
  /**
   * Returns true if the consent still covers the new authorization. Called in the transaction that
   * writes the new one. The earlier one cannot change during it.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/**
 * Returns the details for a new authorization that `prior` covers. `prior` may itself have an
 * earlier authorization, and so on. The details contain the lowest id in this chain.
 */
export function priorDetails({ id, details }: PriorAuthorization): Details {
  const lowest = lowestPrior(details);
  return { prior: lowest !== null && lowest < id ? lowest : id };
}

/**
 * Returns true if this authorization skipped the consent page because of an earlier one, with an id
 * up to `newest`.
 *
 * An operation that ends access also ends these. It ignores authorizations from the consent page,
 * because otherwise it might never finish.
 */
export function goesBackTo(newest: string, details: Details | undefined): boolean {
  const lowest = lowestPrior(details);
  return lowest !== null && lowest <= newest;
}

/** Returns the lowest id in the chain, or null if the person answered on the consent page. */
function lowestPrior(details: Details | undefined): string | null {
  return (details?.['prior'] as string | undefined) ?? null;
}
