import type { SqlConnection } from '@portico/sql';
import type { PersonReference } from '../person.ts';
import type { Client } from './client.ts';
import type { Details } from './grant.ts';
import type { AuthorizationRequest, ConsentRequest } from './requests.ts';

/** What the consent page would ask. */
export interface AskedConsent {
  readonly asked: AuthorizationRequest;
  readonly client: Client;
  readonly person: PersonReference;
  /** The scopes that the page would ask for. Never empty. */
  readonly scopes: readonly string[];
}

/**
 * Answers the question of the consent page in the person's place, because of an authorization that
 * they have allowed before. A feature provides it. The core makes sure that this authorization is
 * alive when the new one is written, and records what the new one goes back to (`goesBackTo`).
 */
export interface PriorConsent {
  /** Returns the authorization whose consent counts. Null to ask the person. */
  find(consent: AskedConsent): Promise<PriorAuthorization | null>;
}

/**
 * Receives what a person has answered on the consent page, before the answer is stored: which of
 * the shown scopes (`request.asked.scopes`) they allow.
 */
export type ConsentAnswered = (
  request: ConsentRequest,
  allowed: readonly string[],
) => Promise<void>;

/** An authorization whose consent also counts for a new one. The person is not asked again. */
export interface PriorAuthorization {
  readonly id: string;
  /** The details that it keeps. */
  readonly details?: Details | undefined;
  /**
   * Whether its consent still counts. Called in the transaction that writes the new authorization,
   * in which this one cannot change any more.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}

/**
 * Returns what an authorization keeps that begins because of this one: the lowest id of those that
 * it goes back to.
 */
export function priorDetails({ id, details }: PriorAuthorization): Details {
  const lowest = lowestPrior(details);
  return { prior: lowest !== null && lowest < id ? lowest : id };
}

/**
 * Whether the authorization began without a question because of one whose id is at most `newest`.
 * What ends access ends it as well, and leaves what the person allows on the page meanwhile. So it
 * comes to an end even if people allow access again and again.
 */
export function goesBackTo(newest: string, details: Details | undefined): boolean {
  const lowest = lowestPrior(details);
  return lowest !== null && lowest <= newest;
}

/** Returns the lowest id that an authorization goes back to. Null if the person was asked. */
function lowestPrior(details: Details | undefined): string | null {
  return (details?.['prior'] as string | undefined) ?? null;
}
