import type { Log } from '@portico/sql';
import { canonicalAddress } from './http/addresses.ts';
import type { AuditEvent } from './auditing/audit.ts';
import type { PasswordHasher } from './contracts/password-hasher.ts';
import type { PersonReference, UserInterface } from './contracts/person.ts';

/**
 * Everything that the authorization server needs from your application. It has no accounts, login
 * or permissions: it asks here at every request, and trusts the answer. It never calls a member
 * inside a transaction of the store.
 *
 * `Context` is what the mount passes with a request, always as the last argument: `req` of Express,
 * `request` of Fastify, or what you passed to the handler of `portico/fetch`. It is undefined
 * without a request, as in a console command.
 */
export interface Host<Context = unknown> {
  /** The person who is signed in in this browser, or null. Do not derive it from a bearer token. */
  signedIn(request: Request, context: Context): Promise<PersonReference | null>;
  /** Loads an account as it is now, never from a cache; null for an unknown one. */
  loadAccount(person: PersonReference, context: Context): Promise<UserInterface | null>;
  /** Whether this account holds this permission now. */
  holdsPermission(person: PersonReference, permission: string, context: Context): Promise<boolean>;
  /**
   * Finds people for an administrator: by a part of the name or e-mail address, ignoring case, or
   * by id. Returns at most `limit` of them, which is small. The text has 1 to 100 characters.
   * Without it, the administrator's pages find people by provider and id only.
   */
  findPeople?(text: string, limit: number, context: Context): Promise<readonly UserInterface[]>;
  /**
   * Your sign-in page, which sends people back to `returnTo`, a path of your application. A path
   * such as `/login` gets `return_to` as a parameter.
   */
  readonly loginUrl: string | ((returnTo: string, context: Context) => string);
  /**
   * Whether your sign-in page names the application that a person signs in for, which
   * `AuthorizationServer.waitingFor` returns. The browser then carries it to the path of `loginUrl`
   * in an encrypted cookie. Default: false.
   */
  readonly tellsWhoWaits?: boolean;
  /**
   * Ends this browser's session, so that another person can sign in. The browser's secret must
   * change with it. Or the path of a page that does this, such as `/logout`, and then redirects to
   * its parameter `return_to`. Without either, "Not you?" ends the request and says how to go on.
   */
  readonly signOut?: string | ((request: Request, context: Context) => Promise<void>);
  /**
   * A random secret of this browser's session, at least 128 bits (22 characters of base64url). It
   * stays the same while a person is signed in, and changes when they sign out or another person
   * signs in. It never leaves the server: it binds consent to the browser and the person. Without
   * it, Portico sets a cookie.
   */
  browserSecret?(request: Request, context: Context): Promise<string>;
  /** Hashes client secrets; use the hasher that you have for passwords. Default: argon2id. */
  readonly passwordHasher?: PasswordHasher;
  /** Renders a view such as `oauth/consent`. Default: the built-in views, which yours replace. */
  render?(view: string, data: Readonly<Record<string, unknown>>, context: Context): Promise<string>;
  /**
   * The IP address of the client, with or without a port; null if unknown. It slows down guessing.
   * Behind a proxy, return what the proxy says. Any other text counts as null. Default: `ip` of the
   * framework's request (Express, Fastify and Koa apply their proxy setting), or the other end of
   * Node's connection.
   */
  clientAddress?(request: Request, context: Context): string | null;
  /**
   * Receives an event for your audit log. The server waits for it before it answers. Default: a log
   * line.
   */
  audit?(event: AuditEvent, context: Context): Promise<void>;
  /**
   * Receives log lines for an operator, never with a secret, token or code. Default: JSON on
   * standard output.
   */
  readonly log?: Log;
  /**
   * Called once for each request of a browser, after the response is made and before it is sent. If
   * your session is a cookie, append its `Set-Cookie` to `response.headers`. Not called for
   * requests of applications, which read no session.
   */
  commit?(request: Request, response: Response, context: Context): Promise<void> | void;
}

/** A host with every member. Each runs in the context of the current request. */
export interface CompleteHost {
  /** As `Host.signedIn`. */
  signedIn(request: Request): Promise<PersonReference | null>;
  /** As `Host.loadAccount`. */
  loadAccount(person: PersonReference): Promise<UserInterface | null>;
  /** As `Host.holdsPermission`. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /** As `Host.findPeople`; null if the application does not have it. */
  readonly findPeople: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
  /** As `Host.browserSecret`, for the signed-in person. */
  browserSecret(request: Request, person: PersonReference): Promise<string>;
  /**
   * As `Host.signOut`. Returns where the browser goes next, on its way to `returnTo`; null if only
   * the person can sign out.
   */
  signOut(request: Request, returnTo: string): Promise<string | null>;
  /** As `Host.loginUrl`. */
  loginUrl(returnTo: string): string;
  /** As `Host.tellsWhoWaits`. */
  readonly tellsWhoWaits: boolean;
  /** As `Host.passwordHasher`. */
  readonly passwordHasher: PasswordHasher;
  /** As `Host.render`. */
  render(view: string, data: Readonly<Record<string, unknown>>): Promise<string>;
  /** As `Host.clientAddress`. */
  clientAddress(request: Request): string | null;
  /** As `Host.audit`. */
  audit(event: AuditEvent): Promise<void>;
  /** As `Host.log`. */
  readonly log: Log;
  /** As `Host.commit`; null without it. */
  readonly commit: ((request: Request, response: Response) => Promise<void>) | null;
}

/** The client address of a request, in canonical form; null if the host knows no IP address. */
export function callerAddress(host: CompleteHost, request: Request): string | null {
  const address = host.clientAddress(request);
  return address === null ? null : canonicalAddress(address);
}
