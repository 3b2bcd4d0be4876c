/** An authorization request that waits until a person has signed in, as a sign-in page may show it. */
export interface WaitingFor {
  /**
   * Who asks: the name of a client that an operator registered. For any other client, as on the consent screen, what it cannot make up: the
   * host that it comes from or answers at, "a program on this computer" or "an application on this device".
   */
  readonly clientName: string;
  /** Whether an operator registered it. */
  readonly isVerified: boolean;
  /**
   * The account that the client suggests (`login_hint`, OpenID Connect Core section 3.1.2.1): at most 254 characters, only for the field of
   * the page; null if it suggests none. The server did not check whether the account exists.
   */
  readonly loginHint: string | null;
  /** The languages that the client asks for (`ui_locales`), best first; empty when it asks for none. */
  readonly uiLocales: readonly string[];
}

/** A request of a browser: a `Request`, or what Express, Fastify, Koa and Node give in its place. */
export interface WithHeaders {
  /** Of which `cookie` is read. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}
