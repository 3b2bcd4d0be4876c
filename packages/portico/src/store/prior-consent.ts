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
 * alive when the new one is written. As one authorization can begin another, the core looks for
 * living ones again when it ends all of a person's access.
 */
export interface PriorConsent {
  /** Returns the authorization whose consent counts. Null to ask the person. */
  find(consent: AskedConsent): Promise<PriorAuthorization | null>;
  /**
   * Receives what the person has answered on the page, before the answer is stored: which of the
   * shown scopes (`request.asked.scopes`) they allow.
   */
  answered(request: ConsentRequest, allowed: readonly string[]): Promise<void>;
  /** Whether an authorization with these details began because of another one. */
  hasPrior(details: Details | undefined): boolean;
}

/** An authorization whose consent also counts for a new one. The person is not asked again. */
export interface PriorAuthorization {
  readonly id: string;
  /** Details that the new authorization keeps because of this one. */
  readonly details: Details;
  /**
   * Whether its consent still counts. Called in the transaction that writes the new authorization,
   * in which this one cannot change any more.
   */
  readonly applies: (connection: SqlConnection) => Promise<boolean>;
}
