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

/** Finds the scopes that this person has already allowed this client at this resource. */
export type EarlierScopes = (
  client: Client,
  person: PersonReference,
  audience: string | null,
) => Promise<readonly string[]>;

/** An authorization that a person has allowed. It is not stored yet. */
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
   * The HTTP request with the person's answer. If the server reuses an earlier consent, it is the
   * authorization request.
   */
  readonly request: Request;
  /** When the server began to ask the host who is signed in, in milliseconds since 1970. */
  readonly readAt: number;
  /** The request parameters that features declare in `requestParameters`. */
  readonly further: Readonly<Record<string, string>>;
}

/** Returns details to store with an authorization. Throws to refuse the authorization. */
export type KeepsDetails = (allowed: AllowedAuthorization) => Promise<Details | undefined>;

export interface AuthorizationAdditions {
  /** Finds clients that are not registered. Null if all clients must be registered. */
  readonly clientSource: ClientSource | null;
  /** Null if no feature stores requests that clients send directly. */
  readonly directRequests: DirectRequests | null;
  readonly indirectRefusals: readonly IndirectRefusal[];
  /** Decides whether the server may redirect a client's response to a URI. */
  readonly mayRedirect: MayRedirect;
  readonly responseModes: ResponseModes;
  readonly reading: RequestReading;
  /** Null if no feature adds a step before the consent page. */
  readonly interaction: Interaction | null;
  readonly keptDetails: readonly KeepsDetails[];
  readonly droppedScopes: DroppedScopes;
  /** Null if the person cannot choose scopes. */
  readonly scopeChoices: ScopeChoices | null;
  /** Finds an earlier consent to reuse. Null if the server always shows the page. */
  readonly priorConsent: PriorConsent | null;
  readonly consentAnswered: readonly ConsentAnswered[];
  /** Null if a new authorization contains only the requested scopes. */
  readonly earlierScopes: EarlierScopes | null;
  /** Null if tokens are not bound to keys. */
  readonly binding: KeyBinding | null;
  readonly logos: ClientLogos | null;
  /** The path of the page where people see and revoke access. Null if there is no such page. */
  readonly accessPath: string | null;
}
