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

/** An authorization that a person has just allowed. It is not stored yet. */
export interface AllowedAuthorization extends Pick<
  Family,
  'id' | 'clientId' | 'person' | 'subject' | 'scopes'
> {
  readonly client: Client;
  /** The authorization whose consent counts for this one. Null if the person was asked. */
  readonly prior: PriorAuthorization | null;
  /** The person's answer. */
  readonly request: Request;
  /** When the server began to ask the host who is signed in, in milliseconds since 1970. */
  readonly readAt: number;
  /** The parameters of the authorization request that features read (`requestParameters`). */
  readonly further: Readonly<Record<string, string>>;
}

/** Returns details to keep with an authorization. Can refuse it. */
export type KeepsDetails = (allowed: AllowedAuthorization) => Promise<Details | undefined>;

/** What features add to authorization requests and responses. */
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
  /** The step before the consent screen, such as a new sign-in. Null if no feature adds a step. */
  readonly interaction: Interaction | null;
  /** Return details to keep with authorizations. */
  readonly keptDetails: readonly KeepsDetails[];
  /** Decides which scopes are dropped from requests. */
  readonly droppedScopes: DroppedScopes;
  /** What a person can choose on the consent page. Null if there is nothing to choose. */
  readonly scopeChoices: ScopeChoices | null;
  /** Answers in people's place. Null if the consent page is always shown. */
  readonly priorConsent: PriorConsent | null;
  /** Receive what people answer on the consent page. */
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
