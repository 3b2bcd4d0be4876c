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

/** Finds the scopes that this person has already allowed this client to use at this resource. */
export type EarlierScopes = (
  client: Client,
  person: PersonReference,
  audience: string | null,
) => Promise<readonly string[]>;

/** An authorization that a person has allowed, but that the server has not stored yet. */
export interface AllowedAuthorization extends Pick<
  Family,
  'id' | 'clientId' | 'person' | 'subject' | 'scopes'
> {
  readonly client: Client;
  /**
   * The earlier authorization whose consent the server reuses. Null if the person answered on the
   * consent page.
   */
  readonly prior: PriorAuthorization | null;
  /**
   * The HTTP request in which the authorization begins. It contains the person's answer, or is the
   * authorization request if the server reuses an earlier consent.
   */
  readonly request: Request;
  /** When the server began to ask the host who is signed in, in milliseconds since 1970. */
  readonly readAt: number;
  /**
   * The parameters of the authorization request that features have declared in `requestParameters`.
   */
  readonly further: Readonly<Record<string, string>>;
}

/** Returns details to store with an authorization. To refuse the authorization, throws an error. */
export type KeepsDetails = (allowed: AllowedAuthorization) => Promise<Details | undefined>;

/** What features add to the handling of authorization requests. */
export interface AuthorizationAdditions {
  /**
   * Finds clients that are not registered, for example by the URL in their client id. Null if all
   * clients must be registered.
   */
  readonly clientSource: ClientSource | null;
  /**
   * Stores authorization requests that clients send directly to the server. Null if no feature
   * provides this.
   */
  readonly directRequests: DirectRequests | null;
  readonly indirectRefusals: readonly IndirectRefusal[];
  /** Decides whether the server may redirect a client's response to a URI. */
  readonly mayRedirect: MayRedirect;
  /** All response modes: `query`, and those that features add. */
  readonly responseModes: ResponseModes;
  /** The request checks that features replace, and the request parameters that they read. */
  readonly reading: RequestReading;
  /** A step before the consent page, for example a new sign-in. Null if no feature adds one. */
  readonly interaction: Interaction | null;
  /** Functions that return details to store with each authorization. */
  readonly keptDetails: readonly KeepsDetails[];
  /** Decides which scopes the server leaves out of a request instead of rejecting the request. */
  readonly droppedScopes: DroppedScopes;
  /** Lets the person choose scopes on the consent page. Null if the person cannot choose. */
  readonly scopeChoices: ScopeChoices | null;
  /**
   * Finds an earlier authorization whose consent the server can reuse without showing the consent
   * page. Null if the server always shows the page.
   */
  readonly priorConsent: PriorConsent | null;
  /** Called with each answer that a person gives on the consent page. */
  readonly consentAnswered: readonly ConsentAnswered[];
  /**
   * Finds scopes that the person has already allowed the client, to add them to a new
   * authorization. Null if a new authorization contains only the requested scopes.
   */
  readonly earlierScopes: EarlierScopes | null;
  /** Binds tokens to the client's key. Null if tokens are not bound to keys. */
  readonly binding: KeyBinding | null;
  /** The logos of clients, or null if no feature provides them. */
  readonly logos: ClientLogos | null;
  /**
   * The path of the page where people see and revoke the access that they have allowed. Null if
   * there is no such page.
   */
  readonly accessPath: string | null;
}
