import type { PersonReference } from '../person.ts';
import type { Renewal } from './renewal.ts';
import type { Details } from './grant.ts';

/** An authorization request that has passed every check. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The requested scopes. */
  readonly scopes: readonly string[];
  readonly state: string | null;
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** The API that the tokens are for. Null if no audience is configured. */
  readonly audience: string | null;
  /**
   * The thumbprint of the key that the client must prove when it uses the code. Null if no key is
   * required.
   */
  readonly thumbprint: string | null;
  /**
   * The languages in the request's `ui_locales` parameter (OpenID Connect Core section 3.1.2.1).
   * Missing if all pages of this server are in one language.
   */
  readonly uiLocales?: string | undefined;
  /** The response mode. Missing if it is the default, `query`. */
  readonly responseMode?: string | undefined;
  /** True if the client sent the request to the server directly, not through the browser. */
  readonly direct?: true | undefined;
  /** True if the server must not show a page (`prompt=none`). */
  readonly silent?: true | undefined;
  /** Additional parameters for features, as the client sent them. Missing if there are none. */
  readonly further?: Readonly<Record<string, string>> | undefined;
}

/**
 * An authorization request of a signed-in person. Most requests are shown on the consent page. The
 * browser stores only the request's id.
 */
export interface ConsentRequest extends AuthorizationRequest, Renewal {
  /** SHA-256 of the consent request's id. */
  readonly idHash: string;
  /** SHA-256 of the secret of the browser session. */
  readonly browserHash: string;
  /** The person who saw the request, and the scopes that the page showed. */
  readonly asked: AskedPerson;
  /**
   * The client's name on the page that the person saw. Stored only for a document client, because
   * its document may change the name at any time.
   */
  readonly shownName?: string | undefined;
  /** The scopes that the person could choose. Missing if there was nothing to choose. */
  readonly choices?: ChoosableScopes | undefined;
  /** The result, or null while the request waits for the person's answer. */
  readonly outcome: ConsentOutcome | null;
  /** The person's answer. Missing if none is stored, for example while the request waits for it. */
  readonly answer?: ConsentAnswer | undefined;
  /** The details for the authorization. Missing if there are none. */
  readonly details?: Details | undefined;
  readonly expiresAt: number;
}

/** The scopes with a checkbox on the consent page. */
export interface ChoosableScopes {
  /**
   * Scopes that the person may leave out. The client requested them, or already has them from an
   * earlier authorization.
   */
  readonly optional: readonly string[];
  /** Scopes that the client did not request and the person may add. */
  readonly added: readonly string[];
}

/**
 * A person's answer. It is stored so that the server recognizes the answer if the browser sends it
 * again.
 */
export interface ConsentAnswer {
  /**
   * Whether the person pressed the button to allow access. The outcome is still `denied` if the
   * person has no permission for any of the scopes.
   */
  readonly allow: boolean;
  /** When the person answered, in milliseconds since 1970. */
  readonly at: number;
  /** The id of the authorization that the answer started. Null if the answer started none. */
  readonly familyId: string | null;
}

/**
 * The result of a request. `void` means that the request ended without an answer, for example
 * because another person signed in.
 */
export type ConsentOutcome = 'allowed' | 'denied' | 'void';

/**
 * An authorization request that is stored until the user signs in. Either it is too long for a
 * cookie, or the client pushed it to the server.
 */
export interface WaitingRequest {
  /** SHA-256 of the secret in the browser's cookie, or in the `request_uri`. */
  readonly secretHash: string;
  /** The network that the request came from. Empty if unknown. */
  readonly network: string;
  readonly parameters: string;
  /** The number of bytes of the budget that the request uses. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** The number of bytes that waiting requests may use, in total and for each network. */
export interface WaitingBudget {
  readonly total: number;
  readonly ofOneNetwork: number;
}

export interface AskedPerson {
  readonly person: PersonReference;
  /** The scopes that the person saw. No other scopes can be granted. */
  readonly scopes: readonly string[];
}
