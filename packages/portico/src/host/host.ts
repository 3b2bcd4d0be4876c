import type { Log } from '@portico/sql';
import { canonicalAddress } from '../http/addresses.ts';
import type { AuditEvent } from '../auditing/audit.ts';
import type { PasswordHasher } from './password-hasher.ts';
import type { PersonReference, UserInterface } from '../person.ts';

/**
 * The interface that your application implements. Portico has no accounts, sign-in or permissions.
 * It calls your host for every request and trusts the result. It never calls a host method inside a
 * store transaction.
 *
 * `Context` is the type of the last argument of every method. The mount passes this value with each
 * request: `req` in Express, `request` in Fastify. With `portico/fetch`, it is the value that you
 * pass to the handler. Outside a request, for example in a console command, it is undefined.
 */
export interface Host<Context = unknown> {
  /**
   * Returns the person who is signed in to this browser, or null. Do not use a bearer token to
   * identify the person.
   */
  signedIn(request: Request, context: Context): Promise<PersonReference | null>;
  /**
   * Loads the current data of an account. Do not use a cache. Returns null if the account does not
   * exist.
   */
  loadAccount(person: PersonReference, context: Context): Promise<UserInterface | null>;
  /** Returns true if this person currently has this permission. */
  holdsPermission(person: PersonReference, permission: string, context: Context): Promise<boolean>;
  /**
   * Returns the account of a person whom an identity provider has identified, or null. The issuer,
   * the tenant and the subject together identify the person. Never use an email address.
   *
   * Portico calls this method for each assertion, and for each use of a token from an assertion. So
   * you can end access at any time. Without this method, Portico uses the links that an operator
   * adds with `oauth:link:create`.
   */
  accountFor?(assertion: AssertedAccount, context: Context): Promise<PersonReference | null>;
  /**
   * Finds people for an administrator. `text` is part of a name or email address (ignore case), or
   * a complete id. It is 1 to 100 characters long. Return at most `limit` people. Without this
   * method, the administration pages find people only by provider and id.
   */
  findPeople?(text: string, limit: number, context: Context): Promise<readonly UserInterface[]>;
  /**
   * The URL of your sign-in page. After sign-in, the page must redirect to `returnTo`, a path in
   * your application. If you set a path instead of a function, for example `/login`, Portico adds
   * `returnTo` as the parameter `return_to`.
   */
  readonly loginUrl: string | ((returnTo: string, context: Context) => string);
  /**
   * Set it to true if your sign-in page shows which application the person is signing in for.
   * Portico then stores this information in an encrypted cookie for the path of `loginUrl`. It sets
   * no cookie if that page is on another origin. Your page reads the cookie with
   * `AuthorizationServer.waitingFor`. Default: false.
   */
  readonly tellsWhoWaits?: boolean;
  /**
   * Ends the session in this browser, so that another person can sign in. This must also change the
   * browser secret.
   *
   * You can also set the path of a sign-out page, for example `/logout`, instead of a function.
   * After sign-out, the page must redirect to the path in its parameter `return_to`. Without
   * `signOut`, the button "Not you?" ends the request and tells the person what to do next.
   * Required for `oauth_server:logout`.
   */
  readonly signOut?: string | ((request: Request, context: Context) => Promise<void>);
  /**
   * Returns when and how the signed-in person last authenticated in this session, for example with
   * a password or a passkey. Continuing an existing session does not count. Returns null if
   * unknown. Required for `oauth_server:reauthentication`.
   */
  authenticatedAt?(request: Request, context: Context): Promise<Authentication | null>;
  /**
   * The URL of your page where a signed-in person authenticates again. After that, the page must
   * redirect to `returnTo`, a path in your application. If you set a path instead of a function,
   * for example `/login/again`, Portico adds `returnTo` as the parameter `return_to`. If the client
   * requests levels of assurance, Portico also adds them as `acr_values`, separated by spaces.
   * Required for `oauth_server:reauthentication`.
   */
  readonly reauthenticateUrl?:
    string | ((returnTo: string, asked: AskedAuthentication, context: Context) => string);
  /**
   * Returns a random secret for this browser session. It must have at least 128 bits (22 base64url
   * characters). Portico uses the secret to bind the person's consent to this browser.
   *
   * The secret must not change while a person is signed in. It must change when the person signs
   * out or another person signs in. Portico never sends it to a browser or client. Without this
   * method, Portico sets a cookie.
   */
  browserSecret?(request: Request, context: Context): Promise<string>;
  /**
   * Returns the id of the session in which the person is signed in, or null if unknown. The id must
   * not change while the person is signed in, and each sign-in must create a new id. Portico stores
   * only a hash of the id and never sends the id to a client.
   *
   * When a session ends, call `AuthorizationServer.sessionEnded` with the same id. If `signOut` is
   * a function, Portico does this for sign-outs on its own pages. Required for
   * `oauth_server:back_channel_logout`.
   */
  sessionId?(request: Request, context: Context): Promise<string | null>;
  /**
   * Hashes client secrets. You can use the password hasher of your application. Default: argon2id.
   */
  readonly passwordHasher?: PasswordHasher;
  /** Renders a view, for example `oauth/consent`. Default: Portico's built-in views. */
  render?(view: string, data: Readonly<Record<string, unknown>>, context: Context): Promise<string>;
  /**
   * Returns the client's IP address, with or without a port, or null if unknown. Portico uses the
   * address to slow down attackers who guess secrets. If your application is behind a proxy, return
   * the address that the proxy reports. Portico ignores any value that is not an IP address.
   *
   * Default: the property `ip` of the framework's request, which follows the proxy setting of
   * Express, Fastify or Koa. If there is no `ip`, Portico uses the remote address of Node's
   * connection.
   */
  clientAddress?(request: Request, context: Context): string | null;
  /**
   * Receives an event for your audit log. The server waits for the returned promise before it sends
   * its response. Default: Portico writes the event to the log.
   */
  audit?(event: AuditEvent, context: Context): Promise<void>;
  /**
   * Receives log lines for operators. The lines never contain a secret, token or code. Default:
   * JSON on standard output.
   */
  readonly log?: Log;
  /**
   * Called once for each browser request, after Portico has created the response and before it
   * sends it. If you store the session in a cookie, append `Set-Cookie` to `response.headers` here.
   * If this method fails, Portico sends an error response instead. Requests from clients have no
   * session, so Portico does not call it for them.
   */
  commit?(request: Request, response: Response, context: Context): Promise<void> | void;
}

/**
 * A person whom a trusted issuer identifies, with the claims `iss`, `tenant` and `sub`. Always
 * compare all three. An issuer may use the same `sub` for different people in different tenants.
 */
export interface AssertedAccount {
  /** The issuer, as configured in `oauth_server:trusted_issuers`. */
  readonly issuer: string;
  /** The issuer's tenant, as configured for the issuer. Null if none is configured. */
  readonly tenant: string | null;
  /** The identifier that the issuer uses for this person, up to 255 characters. */
  readonly subject: string;
}

/** When and how a person authenticated. */
export interface Authentication {
  /** The time at which the person authenticated. */
  readonly at: Date;
  /**
   * The level of assurance that the authentication reached: `acr` in OpenID Connect Core section 2.
   */
  readonly acr?: string | undefined;
  /**
   * The authentication methods that the person used, such as `pwd` or `otp` (RFC 8176 section 2).
   */
  readonly amr?: readonly string[] | undefined;
}

/** How a client wants the person to authenticate. */
export interface AskedAuthentication {
  /**
   * The levels of assurance that the client accepts, in order of preference. Empty if the client
   * accepts any level.
   */
  readonly acrValues: readonly string[];
}

/**
 * Your host with defaults for everything that it does not provide. The methods pass the current
 * request's context to your host.
 */
export interface CompleteHost {
  /** See `Host.signedIn`. */
  signedIn(request: Request): Promise<PersonReference | null>;
  /** See `Host.loadAccount`. */
  loadAccount(person: PersonReference): Promise<UserInterface | null>;
  /** See `Host.holdsPermission`. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /** See `Host.accountFor`. Null if the host has no such method. */
  readonly accountFor: ((assertion: AssertedAccount) => Promise<PersonReference | null>) | null;
  /** See `Host.findPeople`. Null if the host has no such method. */
  readonly findPeople: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
  /** See `Host.browserSecret`. `person` is the signed-in person. */
  browserSecret(request: Request, person: PersonReference): Promise<string>;
  /**
   * See `Host.signOut`. Returns the URL to which the browser goes next. From there, it is
   * redirected to `returnTo`. Returns null if the server cannot sign the person out.
   */
  signOut(request: Request, returnTo: string): Promise<string | null>;
  /**
   * Ends the session as `Host.signOut` describes. Returns null if this call has ended it.
   * Otherwise, returns the URL of a page that ends it and then redirects to `returnTo`. The
   * property is null if the host cannot end sessions.
   */
  readonly endSession: ((request: Request, returnTo: string) => Promise<string | null>) | null;
  /** See `Host.loginUrl`. */
  loginUrl(returnTo: string): string;
  /** See `Host.authenticatedAt`. Null if the host has no such method. */
  readonly authenticatedAt: ((request: Request) => Promise<Authentication | null>) | null;
  /** See `Host.reauthenticateUrl`. Null if the host has no such page. */
  readonly reauthenticateUrl: ((returnTo: string, asked: AskedAuthentication) => string) | null;
  /** See `Host.sessionId`. Null if the host has no such method. */
  readonly sessionId: ((request: Request) => Promise<string | null>) | null;
  /** See `Host.tellsWhoWaits`. */
  readonly tellsWhoWaits: boolean;
  /** See `Host.passwordHasher`. */
  readonly passwordHasher: PasswordHasher;
  /** See `Host.render`. */
  render(view: string, data: Readonly<Record<string, unknown>>): Promise<string>;
  /** See `Host.clientAddress`. */
  clientAddress(request: Request): string | null;
  /** See `Host.audit`. */
  audit(event: AuditEvent): Promise<void>;
  /** See `Host.log`. */
  readonly log: Log;
  /** See `Host.commit`. Null if the host has no such method. */
  readonly commit: ((request: Request, response: Response) => Promise<void>) | null;
}

/** Returns the client's IP address in canonical form, or null if the host returns no valid one. */
export function callerAddress(host: CompleteHost, request: Request): string | null {
  const address = host.clientAddress(request);
  return address === null ? null : canonicalAddress(address);
}
