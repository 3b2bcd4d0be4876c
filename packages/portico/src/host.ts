import type { Log } from '@portico/sql';
import { canonicalAddress } from './http/addresses.ts';
import type { AuditEvent } from './auditing/audit.ts';
import type { PasswordHasher } from './contracts/password-hasher.ts';
import type { PersonReference, UserInterface } from './contracts/person.ts';

/**
 * Everything the authorization server needs of the application it runs in. It keeps no accounts, no login and no
 * permissions of its own: it asks here, at every request, and believes the answer. No member is ever called from
 * inside a transaction of the store.
 *
 * `Context` is what the mount gives along with a request, always the last argument: `req` of Express, `request` of Fastify, what
 * a handler of `portico/fetch` was called with. It is undefined where there is no request, as in a console command.
 */
export interface Host<Context = unknown> {
  /** Who is signed in in this browser, for this request; null when nobody is. Never derived from a bearer token. */
  signedIn(request: Request, context: Context): Promise<PersonReference | null>;
  /** Loads an account as it is now, never from a cache; null when there is none. */
  loadAccount(person: PersonReference, context: Context): Promise<UserInterface | null>;
  /** Whether this account holds this permission now. */
  holdsPermission(person: PersonReference, permission: string, context: Context): Promise<boolean>;
  /**
   * The people whom a text fits: a part of the name or of the e-mail address, in upper or lower case alike, or the id. At most `limit`, which is
   * small; the text has 1 to 100 characters. An administrator looks for somebody by it. Unless given, the administrator's pages find people by
   * provider and id alone.
   */
  findPeople?(text: string, limit: number, context: Context): Promise<readonly UserInterface[]>;
  /**
   * Where a person signs in, and is sent back from to `returnTo` (a path of this host). A path, such as `/login`, is given
   * `return_to` as a parameter.
   */
  readonly loginUrl: string | ((returnTo: string, context: Context) => string);
  /**
   * Whether the sign-in page says for which application somebody signs in: `AuthorizationServer.waitingFor` knows. The browser then
   * carries that to the path of `loginUrl`, in an encrypted cookie. False unless given.
   */
  readonly tellsWhoWaits?: boolean;
  /**
   * Ends this browser's session, so that another person can sign in; the browser's secret is another one afterwards. Or the path
   * of a page that does, such as `/logout`, and sends on to its parameter `return_to`. Without either, "Not you?" ends the question
   * and says how to go on.
   */
  readonly signOut?: string | ((request: Request, context: Context) => Promise<void>);
  /**
   * A random secret of at least 128 bits (22 characters of base64url) of this browser's session, asked for when somebody
   * is signed in: the same while they are, another one after signing out and when another person has signed in. It never
   * leaves the server; consent is bound to the browser and its person by it. A cookie of Portico's own unless given.
   */
  browserSecret?(request: Request, context: Context): Promise<string>;
  /** The hasher that the host uses for people; client secrets are hashed with the same. argon2id unless given. */
  readonly passwordHasher?: PasswordHasher;
  /** Renders a view such as `oauth/consent`; the built-in ones, which a host's own shadow, unless given. */
  render?(view: string, data: Readonly<Record<string, unknown>>, context: Context): Promise<string>;
  /**
   * Where a request comes from, to slow guessing down: behind a proxy what the proxy says. An IP address, with or without a
   * port; null when it is not known. Any other text counts as null. Unless given it is what the framework's request has as `ip`
   * (Express, Fastify and Koa: by their own setting for proxies), or the other end of Node's connection.
   */
  clientAddress?(request: Request, context: Context): string | null;
  /** Takes an event for the host's audit log. The server waits for it before it answers the request. A line of the log unless given. */
  audit?(event: AuditEvent, context: Context): Promise<void>;
  /** Takes what somebody should look at; it never holds a secret, a token or a code. JSON on standard output unless given. */
  readonly log?: Log;
  /**
   * Called when the answer to a person's browser is ready and before it is sent, once for each request: a host whose session is
   * a cookie appends its `Set-Cookie` to `response.headers`. Not called for requests of applications, which read no session.
   */
  commit?(request: Request, response: Response, context: Context): Promise<void> | void;
}

/** A host as the server asks it: complete, and each member called in the context of the request being answered. */
export interface CompleteHost {
  /** As `Host.signedIn`. */
  signedIn(request: Request): Promise<PersonReference | null>;
  /** As `Host.loadAccount`. */
  loadAccount(person: PersonReference): Promise<UserInterface | null>;
  /** As `Host.holdsPermission`. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /** As `Host.findPeople`; null where the application finds nobody. */
  readonly findPeople: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
  /** As `Host.browserSecret`, for the person who is signed in. */
  browserSecret(request: Request, person: PersonReference): Promise<string>;
  /** As `Host.signOut`. Where the browser goes next, to come to `returnTo` in the end; null when only the person can sign out. */
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
  /** As `Host.commit`; null when there is nothing to do. */
  readonly commit: ((request: Request, response: Response) => Promise<void>) | null;
}

/** Where a request comes from, in canonical form; null when the host does not know, or knows no IP address. */
export function callerAddress(host: Pick<CompleteHost, 'clientAddress'>, request: Request): string | null {
  const address = host.clientAddress(request);
  return address === null ? null : canonicalAddress(address);
}
