/** What an application gives the kit, and what the kit adds to an application. Types only. */
import type { OpenedDatabase } from '@portico/sql';
import type {
  Application as BaseApplication,
  ApplicationDefinition as BaseDefinition,
  PasswordHasher,
  PersonReference,
  Plugin,
  UserInterface,
} from 'portico';

// --- people --------------------------------------------------------------------------------------

/** A source of accounts. An application has one or more, each with its own name. */
export interface AccountProvider {
  /** Unique in the application. References to its accounts have it as their `provider`. */
  readonly name: string;
  /**
   * Returns the current state of an account, or null if the id does not exist. Must not use a
   * cache.
   */
  find(id: string): Promise<UserInterface | null>;
  /**
   * The active account with these credentials, or null. Must take the same time whatever is wrong.
   * Before it checks the password, it calls `names` with the account that the identifier names, if
   * any. The event of a failed sign-in uses this.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission now. */
  holdsPermission(id: string, permission: string): Promise<boolean>;
  /**
   * The accounts that match a text of 1 to 100 characters: part of the name or of the e-mail
   * address, in any letter case, or the id. Returns at most `limit`. Administrators use it to find
   * people. A provider without it is not searched.
   */
  search?(text: string, limit: number): Promise<readonly UserInterface[]>;
}

/** All providers of an application together. */
export interface Accounts {
  /** The current state of an account. Null when the provider or the account does not exist. */
  find(person: PersonReference): Promise<UserInterface | null>;
  /**
   * Asks the providers in order. Null when none accepts the credentials. Slows down guessing, by
   * account and by client address: after many failures it throws a SignInSlowedError, which is
   * answered 429.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account has the permission now. False for an unknown account. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /** The matching accounts of all providers, at most `limit`. Null if no provider can search. */
  readonly search: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
}

// --- a browser -----------------------------------------------------------------------------------

/**
 * This browser's session. It is loaded on first use, and stored only if something was written. It
 * is empty for a request with an `Authorization: Bearer` header: a bearer request never falls back
 * to a cookie.
 */
export interface Session {
  /** The JSON value of a key, or undefined. */
  get(key: string): Promise<unknown>;
  /** Stores a JSON value. Undefined removes it. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * A random secret (at least 128 bits, base64url), created on first use. It lives as long as this
   * browser's session: it survives the new session id at sign-in, and ends at sign-out. It is never
   * sent to the browser.
   */
  secret(): Promise<string>;
}

/** Who is signed in for the current request. */
export interface Auth {
  /**
   * The signed-in account, loaded once per request. Null when no one is signed in, or the account
   * is no longer active.
   */
  user(): Promise<UserInterface | null>;
  /**
   * The signed-in person, without loading the account, which may be gone or inactive. For code that
   * loads the account anyway. Null when no one is signed in.
   */
  person(): Promise<PersonReference | null>;
  /**
   * Signs in with a new session id. The session's data is kept, unless another person was signed in
   * before.
   */
  signIn(person: PersonReference): Promise<void>;
  /** Ends the session and deletes its data. */
  signOut(): Promise<void>;
  /**
   * The session-wide CSRF token, for a form's hidden field `_csrf` or the header `X-CSRF-Token`.
   * While no one is signed in, it is bound to a cookie and stores nothing.
   */
  csrfToken(): Promise<string>;
}

// --- the application -----------------------------------------------------------------------------

/** A started application of the kit, with its own accounts, sessions and routes. */
export interface Application extends BaseApplication {
  /** All account providers together. Empty when the application has none. */
  readonly accounts: Accounts;
  /** The session of the current request. Throws outside a request. */
  session(): Session;
  /** Who is signed in for the current request. Throws outside a request. */
  auth(): Auth;
}

/** An application before it starts: data and functions, with nothing opened. */
export interface ApplicationDefinition extends Omit<BaseDefinition, 'register' | 'framework'> {
  /**
   * The account providers. They bring sessions, the session-wide CSRF check, and the routes `login`
   * and `logout`. An application without providers has none of these.
   */
  readonly accounts?: (services: {
    database: OpenedDatabase;
    passwordHasher: PasswordHasher;
  }) => readonly AccountProvider[];
  /** Adds the application's routes and event listeners, after the plugins have registered. */
  readonly register?: (application: Application) => void | Promise<void>;
  /** In order: the defaults of a later plugin override those of an earlier one. */
  readonly plugins?: readonly Plugin[];
}
