import type { Client } from '../store/client.ts';
import type { Details, Family } from '../store/grant.ts';
import type { ConsentAnswered, PriorAuthorization, PriorConsent } from '../store/prior-consent.ts';
import type { PersonReference } from '../person.ts';
import type { ClientLogos } from '../clients/logos.ts';
import type { ClientSource } from '../clients/client-source.ts';
import type { MayRedirect } from '../clients/redirect-uris.ts';
import type { DroppedScopes } from '../tokens/dropped-scopes.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { DirectRequests, IndirectRefusal } from './direct-requests.ts';
import type { Interaction } from './interaction.ts';
import type { RequestReading } from './request-check.ts';
import type { ResponseModes } from './response-modes.ts';
import type { ScopeChoices } from './scope-choices.ts';

/** Finds the scopes that this person has allowed this client before, for this audience. */
export type EarlierScopes = (
  client: Client,
  person: PersonReference,
  audience: string | null,
) => Promise<readonly string[]>;

/** An authorization that a person has just allowed. The server has not stored it yet. */
export interface AllowedAuthorization extends Pick<
  Family,
  'id' | 'clientId' | 'person' | 'subject' | 'scopes'
> {
  readonly client: Client;
  /**
   * The earlier authorization whose consent also covers this one. Null if the person answered on
   * the consent page.
   */
  readonly prior: PriorAuthorization | null;
  /** The HTTP request with the person's answer. */
  readonly request: Request;
  /**
   * When the server started to read the signed-in person from the host, in milliseconds since 1970.
   */
  readonly readAt: number;
  /** The parameters of the authorization request that features read (`requestParameters`). */
  readonly further: Readonly<Record<string, string>>;
}

/**
 * Returns details to store with an authorization. It can throw an error to refuse the
 * authorization.
 */
export type KeepsDetails = (allowed: AllowedAuthorization) => Promise<Details | undefined>;

/** The additions of features to authorization requests and responses. */
export interface AuthorizationAdditions {
  /** Finds clients that were never registered. Null if every client is registered. */
  readonly clientSource: ClientSource | null;
  /** Stores requests that clients send directly. Null if no feature does this. */
  readonly directRequests: DirectRequests | null;
  readonly indirectRefusals: readonly IndirectRefusal[];
  /** Whether a response to a client may go to a URI. */
  readonly mayRedirect: MayRedirect;
  /** The response modes: `query`, and the features' modes. */
  readonly responseModes: ResponseModes;
  /** The checks that features replace, and the parameters that features read. */
  readonly reading: RequestReading;
  /** The step before the consent page, such as a new sign-in. Null if no feature adds a step. */
  readonly interaction: Interaction | null;
  /** Functions that return details to store with an authorization. */
  readonly keptDetails: readonly KeepsDetails[];
  /** Decides which scopes are dropped from requests. */
  readonly droppedScopes: DroppedScopes;
  /** What a person can choose on the consent page. Null if there is nothing to choose. */
  readonly scopeChoices: ScopeChoices | null;
  /**
   * Finds earlier authorizations whose consent allows the server to skip the consent page. Null if
   * the server always shows the page.
   */
  readonly priorConsent: PriorConsent | null;
  /** Functions that receive people's answers on the consent page. */
  readonly consentAnswered: readonly ConsentAnswered[];
  /** Null if a new authorization contains only the requested scopes. */
  readonly earlierScopes: EarlierScopes | null;
  /** Binds tokens to a key. Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
  /** Client logos. Null if no feature provides them. */
  readonly logos: ClientLogos | null;
  /**
   * The path of the page where people see and revoke what they allowed. Null if there is no such
   * page.
   */
  readonly accessPath: string | null;
}
