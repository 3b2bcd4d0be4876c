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
  /** The scopes that the page would ask for. Never empty. */
  readonly scopes: readonly string[];
}

/**
 * Finds an earlier authorization in which the person has already given this consent, so that the
 * server can skip the consent page. A feature implements it. The core makes sure that the earlier
 * authorization is active when it writes the new one. It also records in the new authorization that
 * it began because of an earlier one (`goesBackTo`).
 */
export interface PriorConsent {
  /** Returns the earlier authorization. Returns null if the server must show the consent page. */
  find(consent: AskedConsent): Promise<PriorAuthorization | null>;
}

/**
 * Receives a person's answer on the consent page before the server stores the answer. `allowed`
 * contains those of the shown scopes (`request.asked.scopes`) that the person allows.
 */
export type ConsentAnswered = (
  request: ConsentRequest,
  allowed: readonly string[],
) => Promise<void>;

/**
 * An earlier authorization whose consent also covers a new one, so that the server skips the
 * consent page.
 */
export interface PriorAuthorization {
  readonly id: string;
  /** The details that are stored with the earlier authorization. */
  readonly details?: Details | undefined;
  /**
   * Whether the consent still covers the new authorization. The server calls this in the
   * transaction that writes the new authorization. In that transaction, the earlier one cannot
   * change.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/**
 * Returns the details for an authorization that begins because of this one. They contain the lowest
 * id of all earlier authorizations in this chain.
 */
export function priorDetails({ id, details }: PriorAuthorization): Details {
  const lowest = lowestPrior(details);
  return { prior: lowest !== null && lowest < id ? lowest : id };
}

/**
 * Whether the server began this authorization without the consent page, because of an earlier one
 * whose id is at most `newest`. If an operation ends access, it also ends these authorizations. It
 * does not end authorizations that people allow on the page in the meantime. So the operation
 * finishes even if people allow access again and again.
 */
export function goesBackTo(newest: string, details: Details | undefined): boolean {
  const lowest = lowestPrior(details);
  return lowest !== null && lowest <= newest;
}

/**
 * Returns the lowest id of the earlier authorizations in the chain. Returns null if the person
 * allowed the authorization on the consent page.
 */
function lowestPrior(details: Details | undefined): string | null {
  return (details?.['prior'] as string | undefined) ?? null;
}
