import type { PersonReference } from '../person.ts';
import type { Renewal } from './renewal.ts';
import type { Details } from './grant.ts';

/** A request that has passed every check. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | null;
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** Null if no audience is configured. */
  readonly audience: string | null;
  /** The thumbprint of the key that the client must prove when it uses the code, or null. */
  readonly thumbprint: string | null;
  /**
   * The request's `ui_locales` (OpenID Connect Core section 3.1.2.1). Missing if all pages of this
   * server are in one language.
   */
  readonly uiLocales?: string | undefined;
  /** Missing for the default, `query`. */
  readonly responseMode?: string | undefined;
  /** True if the client sent the request directly to the server. */
  readonly direct?: true | undefined;
  /** True for `prompt=none`: the server must not show a page. */
  readonly silent?: true | undefined;
  /** Parameters for features, as the client sent them. */
  readonly further?: Readonly<Record<string, string>> | undefined;
}

/**
 * A request of a signed-in person, usually shown on the consent page. The browser stores only its
 * id.
 */
export interface ConsentRequest extends AuthorizationRequest, Renewal {
  /** SHA-256 of the request's id. */
  readonly idHash: string;
  /** SHA-256 of the browser session's secret. */
  readonly browserHash: string;
  /** The person who saw the request, and the scopes that the page showed. */
  readonly asked: AskedPerson;
  /**
   * The client's name on the page that the person saw. Only for a document client, whose document
   * may change the name at any time.
   */
  readonly shownName?: string | undefined;
  /** Missing if there was nothing to choose. */
  readonly choices?: ChoosableScopes | undefined;
  /** Null while the request waits for the person's answer. */
  readonly outcome: ConsentOutcome | null;
  readonly answer?: ConsentAnswer | undefined;
  readonly details?: Details | undefined;
  readonly expiresAt: number;
}

/** The scopes with a checkbox on the consent page. */
export interface ChoosableScopes {
  /** The person may leave these scopes out. The client requested them, or has them already. */
  readonly optional: readonly string[];
  /** The person may add these scopes. The client did not request them. */
  readonly added: readonly string[];
}

/** Stored, so that the server recognizes an answer that the browser sends again. */
export interface ConsentAnswer {
  /**
   * True if the person pressed the button to allow access. The outcome is still `denied` if the
   * person may grant none of the scopes.
   */
  readonly allow: boolean;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The authorization that the answer started, or null. */
  readonly familyId: string | null;
}

/**
 * `void` means that the request ended without an answer, for example because another person signed
 * in.
 */
export type ConsentOutcome = 'allowed' | 'denied' | 'void';

/**
 * A request that is stored until the user signs in. It is too long for a cookie, or the client
 * pushed it.
 */
export interface WaitingRequest {
  /** SHA-256 of the secret in the browser's cookie, or in the `request_uri`. */
  readonly secretHash: string;
  /** Empty if unknown. */
  readonly network: string;
  readonly parameters: string;
  /** How many bytes of the budget the request uses. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** In bytes, in total and for each network. */
export interface WaitingBudget {
  readonly total: number;
  readonly ofOneNetwork: number;
}

export interface AskedPerson {
  readonly person: PersonReference;
  /** The scopes that the person saw. No other scopes can be granted. */
  readonly scopes: readonly string[];
}
