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

/** Finds the scopes that this person has already allowed this client for this resource. */
export type EarlierScopes = (
  client: Client,
  person: PersonReference,
  audience: string | null,
) => Promise<readonly string[]>;

/** An authorization that a person has allowed, before the server stores it. */
export interface AllowedAuthorization extends Pick<
  Family,
  'id' | 'clientId' | 'person' | 'subject' | 'scopes'
> {
  readonly client: Client;
  /**
   * The earlier authorization whose consent also covers this authorization. Null if the person
   * answered on the consent page.
   */
  readonly prior: PriorAuthorization | null;
  /** The HTTP request with the person's answer. */
  readonly request: Request;
  /**
   * When the server started to ask the host which person is signed in, in milliseconds since 1970.
   */
  readonly readAt: number;
  /** The parameters of the authorization request that features read (`requestParameters`). */
  readonly further: Readonly<Record<string, string>>;
}

/** Returns details to store with an authorization. Throws an error to refuse the authorization. */
export type KeepsDetails = (allowed: AllowedAuthorization) => Promise<Details | undefined>;

/** The additions of features to authorization requests and responses. */
export interface AuthorizationAdditions {
  /**
   * Looks up clients that are not registered, for example by the URL in their client id. Null if
   * every client must be registered.
   */
  readonly clientSource: ClientSource | null;
  /** Stores requests that clients send directly. Null if no feature stores such requests. */
  readonly directRequests: DirectRequests | null;
  readonly indirectRefusals: readonly IndirectRefusal[];
  /** Decides whether the server may send a client's response to a URI. */
  readonly mayRedirect: MayRedirect;
  /** The response modes: `query`, and the response modes of features. */
  readonly responseModes: ResponseModes;
  /** The checks that features replace, and the parameters that features read. */
  readonly reading: RequestReading;
  /**
   * A step before the consent page, for example a new sign-in. Null if no feature adds such a step.
   */
  readonly interaction: Interaction | null;
  /** Functions that return details to store with an authorization. */
  readonly keptDetails: readonly KeepsDetails[];
  /** Decides which scopes the server drops from requests. */
  readonly droppedScopes: DroppedScopes;
  /**
   * The scopes that a person can choose on the consent page. Null if there is nothing to choose.
   */
  readonly scopeChoices: ScopeChoices | null;
  /**
   * Finds earlier authorizations whose consent allows the server to skip the consent page. Null if
   * the server always shows the page.
   */
  readonly priorConsent: PriorConsent | null;
  /** Functions that receive people's answers on the consent page. */
  readonly consentAnswered: readonly ConsentAnswered[];
  /**
   * Finds earlier scopes to add to a new authorization. Null if a new authorization contains only
   * the requested scopes.
   */
  readonly earlierScopes: EarlierScopes | null;
  /** Binds tokens to a key. Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
  /** Client logos. Null if no feature provides them. */
  readonly logos: ClientLogos | null;
  /**
   * The path of the page where people see and revoke what they have allowed. Null if there is no
   * such page.
   */
  readonly accessPath: string | null;
}
