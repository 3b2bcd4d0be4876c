/** An authorization request that waits until somebody has signed in, as a sign-in page may tell of it. */
export interface WaitingFor {
  /**
   * Who asks: the name of a client that an operator registered, for any other what nobody can make up, as on the consent screen: the host that
   * it comes from or answers at, "a program on this computer" or "an application on this device".
   */
  readonly clientName: string;
  /** Whether an operator registered it. */
  readonly isVerified: boolean;
  /**
   * Who is to sign in, as the client supposes (`login_hint`, OpenID Connect Core section 3.1.2.1): 254 characters at most, for the field of the
   * page and for nothing else; null when it says nothing. Whether there is such an account, nobody has looked.
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
