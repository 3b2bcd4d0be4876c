/**
 * An authorization request that waits until a person has signed in, as a sign-in page may show it.
 */
export interface WaitingFor {
  /**
   * The client: the name of one that an operator registered. For any other client, as on the
   * consent screen, something that it cannot invent: the host that it comes from or answers at, "a
   * program on this computer" or "an application on this device".
   */
  readonly clientName: string;
  /** Whether an operator registered it. */
  readonly isVerified: boolean;
  /**
   * The account that the client suggests (`login_hint`, OpenID Connect Core section 3.1.2.1): at
   * most 254 characters, only for the field of the page; null if it suggests none. The server did
   * not check whether the account exists.
   */
  readonly loginHint: string | null;
  /**
   * The languages that the client asks for (`ui_locales`), best first; empty when it asks for none.
   */
  readonly uiLocales: readonly string[];
}

/** A browser's request: a `Request`, or the request object of Express, Fastify, Koa or Node. */
export interface WithHeaders {
  /** Only `cookie` is read. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}
