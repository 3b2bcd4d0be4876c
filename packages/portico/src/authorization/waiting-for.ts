/**
 * What the sign-in page can show about an authorization request that is waiting for a user to sign
 * in.
 */
export interface WaitingFor {
  /**
   * The client's name if an operator registered the client. For any other client, a text that the
   * client cannot choose, as on the consent page. This text is one of the following:
   *
   * - the host of the client's document or redirect URI
   * - "a program on this computer"
   * - "an application on this device"
   */
  readonly clientName: string;
  /** Whether an operator registered the client. */
  readonly isVerified: boolean;
  /**
   * The account that the client suggests (`login_hint`, OpenID Connect Core section 3.1.2.1), at
   * most 254 characters, or null. Use it only to fill in a form field: the server does not check
   * whether the account exists.
   */
  readonly loginHint: string | null;
  /**
   * The languages that the client requests (`ui_locales`), in order of preference. Empty if the
   * client requests none.
   */
  readonly uiLocales: readonly string[];
}

/** A browser's request: a `Request`, or the request object of Express, Fastify, Koa or Node. */
export interface WithHeaders {
  /** Portico reads only the `cookie` header. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}
