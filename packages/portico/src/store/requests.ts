import type { PersonReference } from '../contracts/person.ts';

/** An authorization request that a person was shown. The browser knows nothing of it but its id. */
export interface ConsentRequest {
  /** SHA-256 of the request id. */
  readonly idHash: string;
  /** SHA-256 of the secret of the browser session it was asked in. */
  readonly browserHash: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The scopes asked for. */
  readonly scopes: readonly string[];
  readonly state: string | null;
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** The target API; null when no audience is configured. */
  readonly audience: string | null;
  /** The key that its code is to be good for alone; null for none. */
  readonly thumbprint: string | null;
  /** Who was shown it, and with which of the scopes. */
  readonly asked: AskedPerson;
  /** The client's name as the person was shown it, where it may change at any time: of a client that is a document. */
  readonly shownName?: string | undefined;
  /** The languages that the client asked for, where they are read (OpenID Connect Core section 3.1.2.1). */
  readonly uiLocales?: string | undefined;
  /** Whether the client itself sent it to the server. */
  readonly direct?: true | undefined;
  /** Null while it waits for the answer. */
  readonly outcome: ConsentOutcome | null;
  /** What was answered; absent while it waits. */
  readonly answer?: ConsentAnswer | undefined;
  readonly expiresAt: number;
}

/** What the person answered, by which the same answer is known when it comes again. */
export interface ConsentAnswer {
  /** The button. A person who allows may hold nothing that could be granted: then the outcome is `denied`. */
  readonly allow: boolean;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The authorization that it began; null for none. */
  readonly familyId: string | null;
}

/** `void`: it ended without an answer, such as when another person signed in. */
export type ConsentOutcome = 'allowed' | 'denied' | 'void';

/** An authorization request that waits for somebody to sign in, and is too long to wait in the browser, or came from the client itself. */
export interface WaitingRequest {
  /** SHA-256 of the secret that the browser has, or of what the `request_uri` gives. */
  readonly secretHash: string;
  /** Where it came from; empty when that is not known. */
  readonly network: string;
  readonly parameters: string;
  /** What it counts for in the budget. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** How many bytes of waiting requests are kept at most. */
export interface WaitingBudget {
  readonly total: number;
  readonly ofOneNetwork: number;
}

export interface AskedPerson {
  readonly person: PersonReference;
  /** Those of the scopes that the person was shown. Nothing else can be granted. */
  readonly scopes: readonly string[];
}
