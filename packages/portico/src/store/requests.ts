import type { PersonReference } from '../contracts/person.ts';

/** The content of an authorization request that passed every check. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The requested scopes. */
  readonly scopes: readonly string[];
  readonly state: string | null;
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** The target API. Null when no audience is configured. */
  readonly audience: string | null;
  /** The key that its code will require, or null. */
  readonly thumbprint: string | null;
  /**
   * The languages that the client asked for, if they are used (OpenID Connect Core section
   * 3.1.2.1).
   */
  readonly uiLocales?: string | undefined;
  /** How the answer is sent; absent for the query of the redirect URI. */
  readonly responseMode?: string | undefined;
  /** Whether the client sent it to the server directly. */
  readonly direct?: true | undefined;
}

/** An authorization request that a person was shown. The browser has only its id. */
export interface ConsentRequest extends AuthorizationRequest {
  /** SHA-256 of the request id. */
  readonly idHash: string;
  /** SHA-256 of the secret of the browser session that it was shown in. */
  readonly browserHash: string;
  /** The person who was shown it, and the scopes that were shown. */
  readonly asked: AskedPerson;
  /**
   * The client's name as the person was shown it. Only for a client that is a document, because its
   * name may change at any time.
   */
  readonly shownName?: string | undefined;
  /** Null while it waits for the answer. */
  readonly outcome: ConsentOutcome | null;
  /** The answer. Absent while it waits. */
  readonly answer?: ConsentAnswer | undefined;
  readonly expiresAt: number;
}

/** A person's answer, by which the same answer is recognized when it comes again. */
export interface ConsentAnswer {
  /**
   * Which button was pressed. A person who allows may have none of the permissions; then the
   * outcome is `denied`.
   */
  readonly allow: boolean;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The authorization that it started, or null. */
  readonly familyId: string | null;
}

/** `void`: it ended without an answer, for example because another person signed in. */
export type ConsentOutcome = 'allowed' | 'denied' | 'void';

/**
 * An authorization request that waits for a sign-in, and is too long for a cookie or came directly
 * from the client.
 */
export interface WaitingRequest {
  /** SHA-256 of the browser's secret, or of the secret in the `request_uri`. */
  readonly secretHash: string;
  /** The network that it came from. Empty if unknown. */
  readonly network: string;
  readonly parameters: string;
  /** Its size in the budget, in bytes. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** The most bytes of waiting requests that are kept. */
export interface WaitingBudget {
  readonly total: number;
  readonly ofOneNetwork: number;
}

export interface AskedPerson {
  readonly person: PersonReference;
  /** The scopes that the person was shown. No other scope can be granted. */
  readonly scopes: readonly string[];
}
