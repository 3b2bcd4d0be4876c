/**
 * The types that an application passes to the kit, and the types of what the kit adds to an
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
 * A source of accounts, such as a users table. An application can have several providers with
 * different names.
 */
export interface AccountProvider {
  /**
   * The provider's name, which must be unique in the application. It is the `provider` in
   * references to the provider's accounts.
   */
  readonly name: string;
  /**
   * Returns the current state of an account, or null if there is no account with this id. Do not
   * cache the result.
   */
  find(id: string): Promise<UserInterface | null>;
  /**
   * Returns the active account with these credentials, or null. A failed call must take equally
   * long for every reason. If an account has the identifier, call `names` with a reference to it
   * before you check the password. The event about a failed sign-in then contains this reference.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission now. */
  holdsPermission(id: string, permission: string): Promise<boolean>;
  /**
   * Returns at most `limit` accounts that match a text of 1 to 100 characters. The text is an
   * account's id, or part of its name or email address, in any letter case. Administrators use this
   * search to find an account. Providers without this method are not searched.
   */
  search?(text: string, limit: number): Promise<readonly UserInterface[]>;
}

/**
 * All account providers of an application, as one object. `Application.accounts` slows down
 * password guessing. The result of `createAccounts` does not.
 */
export interface Accounts {
  /**
   * Returns the current state of an account, or null if the provider or the account does not exist.
   */
  find(person: PersonReference): Promise<UserInterface | null>;
  /**
   * Asks the providers in order, and returns the account with these credentials, or null.
   *
   * `Application.accounts` also slows down password guessing for each account and each client
   * address. After many failures, it rejects with a SignInSlowedError, and the response has the
   * status 429.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission now. Returns false for an unknown account. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /**
   * Returns at most `limit` matching accounts from all providers. Null if no provider supports
   * search.
   */
  readonly search: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
}

// --- a browser -----------------------------------------------------------------------------------

/**
 * The session of the browser that sent the request. It is loaded on first use. A new session is
 * stored only when you call `set` or `secret`, or when a user signs in. Without a signed-in user,
 * it lasts at most two hours after its last use.
 *
 * A request with an access token in the `Authorization` header has an empty session, because it
 * must use its token instead of a cookie. `set` and `secret` then reject with an HttpError with the
 * status 400.
 */
export interface Session {
  /** Returns the JSON value of a key, or undefined if the key is not set. */
  get(key: string): Promise<unknown>;
  /** Sets a key to a JSON value. The value `undefined` removes the key. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * Returns a random secret of at least 128 bits, in base64url. The kit creates it with the
   * session, and never sends it to the browser. If there is no session, starts one. The secret
   * stays the same when a sign-in changes the session's id, unless a different user was signed in.
   * It ends with the session, for example at sign-out.
   */
  secret(): Promise<string>;
}

/** How a user authenticated. Does not include the time. */
export type AuthenticationMethod = Omit<Authentication, 'at'>;

/** Finds the user who sent the current request, and signs users in and out. */
export interface Auth {
  /**
   * Returns the signed-in user's account, which is loaded once per request. Returns null if no user
   * is signed in. If the account no longer exists or is not active, ends the session and returns
   * null.
   */
  user(): Promise<UserInterface | null>;
  /**
   * Returns a reference to the signed-in user, or null if no user is signed in. Does not load
   * the account, so the user may have been deleted or deactivated since. Use this method if your
   * own code loads the account.
   */
  person(): Promise<PersonReference | null>;
  /**
   * Returns when and how the user last signed in in this browser, or null if no user is signed in.
   * The time is that of the sign-in, not of the session's last use.
   */
  authentication(): Promise<Authentication | null>;
  /**
   * Signs a user in, and gives the session a new id. The session keeps its data unless a different
   * user was signed in. Also call this method when a signed-in user has authenticated again.
   * Rejects if the reference is invalid, or if the request contains an access token.
   */
  signIn(person: PersonReference, method?: AuthenticationMethod): Promise<void>;
  /** Ends the session and deletes its data. */
  signOut(): Promise<void>;
  /**
   * Returns the CSRF token. Send it in the hidden form field `_csrf` or in the header
   * `X-CSRF-Token`. The token is bound to the session. If no user is signed in, it is bound to a
   * cookie instead, and the server stores nothing. Rejects if the request contains an access token.
   */
  csrfToken(): Promise<string>;
}

// --- the application -----------------------------------------------------------------------------

/** A started application that uses the kit. It has its own accounts, sessions and routes. */
export interface Application extends BaseApplication {
  /**
   * All account providers of the application, as one object. If there are no providers, it finds no
   * accounts.
   */
  readonly accounts: Accounts;
  /**
   * Returns the session of the current request. Throws outside a request, or if the application has
   * no accounts.
   */
  session(): Session;
  /**
   * Returns the object with which you can find the signed-in user, and sign users in and out.
   * Throws outside a request, or if the application has no accounts.
   */
  auth(): Auth;
  /**
   * Signs a user out in every browser, for example after a password change. Returns the number of
   * sessions that have ended: 0 in an application without accounts.
   *
   * @example
   * await application.endSessions({ provider: 'accounts', id: account.id });
   */
  endSessions(person: PersonReference): Promise<number>;
}

/** An application that has not been started. It contains only data and functions. */
export interface ApplicationDefinition extends Omit<BaseDefinition, 'register' | 'framework'> {
  /**
   * Returns the account providers. If you set this function, the application also gets sessions and
   * their CSRF check. It also gets the routes `login`, `login_submit` and `logout`, unless it adds
   * its own route `login`.
   */
  readonly accounts?: (services: {
    database: OpenedDatabase;
    passwordHasher: PasswordHasher;
    /** Returns the application's time in milliseconds since 1970. */
    clock: () => number;
  }) => readonly AccountProvider[];
  /**
   * Adds the application's routes and event listeners. Called after all plugins have registered.
   */
  readonly register?: (application: Application) => void | Promise<void>;
  /**
   * The plugins, in the order in which they register. If two plugins set the same default, the
   * later plugin's default applies.
   */
  readonly plugins?: readonly Plugin[];
}
