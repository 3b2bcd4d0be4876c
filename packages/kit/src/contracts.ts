/**
 * The types that an application passes to the kit, and the types that the kit adds to an
 * application.
 */
import type { OpenedDatabase } from '@portico/sql';
import type {
  Application as BaseApplication,
  ApplicationDefinition as BaseDefinition,
  Authentication,
  PasswordHasher,
  PersonReference,
  Plugin,
  UserInterface,
} from 'portico';

// --- people --------------------------------------------------------------------------------------

/**
 * A source of accounts. An application with accounts has one or more providers, each with a unique
 * name.
 */
export interface AccountProvider {
  /**
   * The provider's name. It must be unique in the application. References to this provider's
   * accounts contain this name as `provider`.
   */
  readonly name: string;
  /**
   * Returns the current state of an account, or null if no account has the id. Do not cache the
   * result.
   */
  find(id: string): Promise<UserInterface | null>;
  /**
   * Returns the active account with these credentials, or null. A failed call must take the same
   * time for every reason. If an account has the identifier, call `names` with a reference to the
   * account before you check the password. The event about a failed sign-in then contains this
   * account.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission at this moment. */
  holdsPermission(id: string, permission: string): Promise<boolean>;
  /**
   * Returns at most `limit` accounts that match a text of 1 to 100 characters. An account matches
   * if the text is its id, or a part of its name or email address in any letter case.
   * Administrators use this search to find an account. The search skips providers without this
   * method.
   */
  search?(text: string, limit: number): Promise<readonly UserInterface[]>;
}

/** All account providers in an application. */
export interface Accounts {
  /**
   * Returns the current state of an account. Returns null if the provider or the account does not
   * exist.
   */
  find(person: PersonReference): Promise<UserInterface | null>;
  /**
   * Tries the providers in order, and returns the account with these credentials. Returns null if
   * no provider accepts the credentials. Slows down password guessing, by account and by client
   * address. After many failures, throws a SignInSlowedError, and the response has status 429.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission at this moment. False for an unknown account. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /**
   * Returns at most `limit` matching accounts from all providers. This method is null if no
   * provider can search.
   */
  readonly search: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
}

// --- a browser -----------------------------------------------------------------------------------

/**
 * The session of the browser that sent the request. The session is loaded on first use, and stored
 * only after a write. For a request with an `Authorization: Bearer` header, the session is empty,
 * because such a request must use its token and not a cookie.
 */
export interface Session {
  /** Returns the JSON value of a key, or undefined if the key is not set. */
  get(key: string): Promise<unknown>;
  /** Stores a JSON value under a key. `undefined` removes the key. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * Returns a random secret (at least 128 bits, base64url). The kit creates the secret on first use
   * and never sends it to the browser. The secret stays the same when a sign-in changes the
   * session's id, and ends with the session, for example at sign-out.
   */
  secret(): Promise<string>;
}

/** How a user authenticated, without the time of the authentication. */
export type AuthenticationMethod = Omit<Authentication, 'at'>;

/**
 * Tells you who is signed in, and signs users in and out. This object belongs to the current
 * request.
 */
export interface Auth {
  /**
   * Returns the signed-in account. The account is loaded once per request. Returns null if no user
   * is signed in, or if the account is no longer active.
   */
  user(): Promise<UserInterface | null>;
  /**
   * Returns a reference to the signed-in user, or null if no user is signed in. Does not load the
   * account, which may be deleted or inactive. Use this method if your code loads the account
   * itself.
   */
  person(): Promise<PersonReference | null>;
  /**
   * Returns when and how the user last signed in in this browser, or null if no user is signed in.
   * Using the session does not change the result.
   */
  authentication(): Promise<Authentication | null>;
  /**
   * Signs the user in, and gives the session a new id. The session keeps its data unless another
   * user was signed in before. Also call this when a signed-in user has authenticated again.
   */
  signIn(person: PersonReference, method?: AuthenticationMethod): Promise<void>;
  /** Ends the session and deletes its data. */
  signOut(): Promise<void>;
  /**
   * Returns the session's CSRF token. Send it in the hidden form field `_csrf` or in the header
   * `X-CSRF-Token`. While no user is signed in, the token is bound to a cookie, and the server
   * stores nothing.
   */
  csrfToken(): Promise<string>;
}

// --- the application -----------------------------------------------------------------------------

/** A started kit application with its own accounts, sessions and routes. */
export interface Application extends BaseApplication {
  /**
   * All account providers of the application, as one object. Without providers, it finds no
   * accounts.
   */
  readonly accounts: Accounts;
  /** Returns the current request's session. Throws outside a request. */
  session(): Session;
  /** Returns the object that tells you who is signed in. Throws outside a request. */
  auth(): Auth;
  /**
   * Signs a user out in every browser, for example after their password has changed. Returns how
   * many sessions have ended.
   *
   * @example
   * await application.endSessions({ provider: 'accounts', id: account.id });
   */
  endSessions(person: PersonReference): Promise<number>;
}

/** An application before it starts. It contains only data and functions. */
export interface ApplicationDefinition extends Omit<BaseDefinition, 'register' | 'framework'> {
  /**
   * Returns the account providers. If you set this function, the application also has sessions, the
   * CSRF check of the session, and the routes `login` and `logout`.
   */
  readonly accounts?: (services: {
    database: OpenedDatabase;
    passwordHasher: PasswordHasher;
  }) => readonly AccountProvider[];
  /**
   * Adds the application's routes and event listeners. The kit calls this function after the
   * plugins have registered.
   */
  readonly register?: (application: Application) => void | Promise<void>;
  /** The plugins, in order. The defaults of a later plugin override those of an earlier plugin. */
  readonly plugins?: readonly Plugin[];
}
