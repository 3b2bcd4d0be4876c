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

/** A source of accounts. An application has one or more, each with its own name. */
export interface AccountProvider {
  /** Unique in the application. It is the `provider` in references to this provider's accounts. */
  readonly name: string;
  /** Returns an account's current state, or null if the id does not exist. Must not use a cache. */
  find(id: string): Promise<UserInterface | null>;
  /**
   * Returns the active account with these credentials, or null. A failed call must take the same
   * time whatever the reason. If an account has the identifier, call `names` with it before you
   * check the password. The event about a failed sign-in contains this account.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission now. */
  holdsPermission(id: string, permission: string): Promise<boolean>;
  /**
   * Returns at most `limit` accounts that match a text with 1 to 100 characters. The text is the
   * id, or part of the name or email address in any letter case. Administrators use this search to
   * find people. It skips providers without this method.
   */
  search?(text: string, limit: number): Promise<readonly UserInterface[]>;
}

/** All account providers in an application. */
export interface Accounts {
  /**
   * Returns an account's current state, or null when the provider or the account does not exist.
   */
  find(person: PersonReference): Promise<UserInterface | null>;
  /**
   * Asks the providers in order. Returns null when none accepts the credentials. Slows down
   * password guessing by account and by client address: after many failures it throws a
   * SignInSlowedError. The response then has status 429.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission now. False for an unknown account. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /**
   * Returns at most `limit` matching accounts from all providers. Null if no provider can search.
   */
  readonly search: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
}

// --- a browser -----------------------------------------------------------------------------------

/**
 * This browser's session. It is loaded on first use, and stored only after a write. It is empty for
 * a request with an `Authorization: Bearer` header, because such a request must not use a cookie
 * instead.
 */
export interface Session {
  /** Returns the key's JSON value, or undefined. */
  get(key: string): Promise<unknown>;
  /** Stores a JSON value. `undefined` removes the key. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * Returns a random secret (at least 128 bits, base64url). It is created on first use and never
   * sent to the browser. It stays the same when sign-in changes the session id. It ends with the
   * session, such as at sign-out.
   */
  secret(): Promise<string>;
}

/** How a person authenticated. */
export type AuthenticationMethod = Omit<Authentication, 'at'>;

/** Who is signed in for the current request. */
export interface Auth {
  /**
   * Returns the signed-in account. Loads it once per request. Returns null when no one is signed
   * in, and when the account is no longer active.
   */
  user(): Promise<UserInterface | null>;
  /**
   * Returns the signed-in person without loading the account, or null when no one is signed in. The
   * account may be deleted or inactive. Use this if your code loads the account itself.
   */
  person(): Promise<PersonReference | null>;
  /**
   * Returns when and how the person last signed in in this browser, or null when no one is signed
   * in. Using the session does not change it.
   */
  authentication(): Promise<Authentication | null>;
  /**
   * Signs the person in with a new session id. Keeps the session's data, unless another person was
   * signed in before. Call it also when a signed-in person has authenticated again.
   */
  signIn(person: PersonReference, method?: AuthenticationMethod): Promise<void>;
  /** Ends the session and deletes its data. */
  signOut(): Promise<void>;
  /**
   * Returns the session-wide CSRF token, for a form's hidden field `_csrf` or the header
   * `X-CSRF-Token`. While no one is signed in, the token is bound to a cookie and nothing is
   * stored.
   */
  csrfToken(): Promise<string>;
}

// --- the application -----------------------------------------------------------------------------

/** A started kit application with its own accounts, sessions and routes. */
export interface Application extends BaseApplication {
  /** All account providers together. Empty when the application has none. */
  readonly accounts: Accounts;
  /** Returns the current request's session. Throws outside a request. */
  session(): Session;
  /** Returns the object that tells who is signed in. Throws outside a request. */
  auth(): Auth;
  /**
   * Signs a person out in every browser, such as after their password has changed. Returns how many
   * sessions have ended.
   *
   * @example
   * await application.endSessions({ provider: 'accounts', id: account.id });
   */
  endSessions(person: PersonReference): Promise<number>;
}

/** An application before it starts. It contains only data and functions. */
export interface ApplicationDefinition extends Omit<BaseDefinition, 'register' | 'framework'> {
  /**
   * Returns the account providers. With providers, the application also has sessions, the
   * session-wide CSRF check, and the routes `login` and `logout`.
   */
  readonly accounts?: (services: {
    database: OpenedDatabase;
    passwordHasher: PasswordHasher;
  }) => readonly AccountProvider[];
  /** Adds the application's routes and event listeners, after the plugins have registered. */
  readonly register?: (application: Application) => void | Promise<void>;
  /** The plugins in order. A later plugin's defaults override those of an earlier plugin. */
  readonly plugins?: readonly Plugin[];
}
