/** What an application promises to the kit, and what the kit adds to an application. Types only. */
import type { OpenedDatabase } from '@portico/sql';
import type {
  Application as BaseApplication,
  ApplicationDefinition as BaseDefinition,
  PasswordHasher,
  PersonReference,
  Plugin,
  UserInterface,
} from 'portico';

// --- people ---------------------------------------------------------------------------------------------------

/** One source of accounts. An application has one or more, each under its own name. */
export interface AccountProvider {
  /** Unique in the application; the `provider` of its accounts' references. */
  readonly name: string;
  /** Loads an account as it is now, or null when there is none of this id. Never from a cache. */
  find(id: string): Promise<UserInterface | null>;
  /**
   * The active account that these credentials belong to, or null. Takes the same time whatever is wrong. Before it checks the
   * password it calls `names` with the account that the identifier names, if any: for the event of a sign-in that fails.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether this account holds this permission now. */
  holdsPermission(id: string, permission: string): Promise<boolean>;
  /**
   * The accounts whom a text of 1 to 100 characters fits: a part of the name or of the e-mail address, in upper or lower case alike, or the id.
   * At most `limit`. For administrators who look for somebody; a provider without it is not looked through.
   */
  search?(text: string, limit: number): Promise<readonly UserInterface[]>;
}

/** All providers of an application as one. */
export interface Accounts {
  /** Loads an account as it is now; null when the provider or the account does not exist. */
  find(person: PersonReference): Promise<UserInterface | null>;
  /**
   * Asks each provider in its order; null when none accepts the credentials. Guessing is slowed down, by account and by where the
   * request comes from: after many failures this throws a SignInSlowedError, which is answered 429.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account holds the permission now; false for an unknown account. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
  /** The accounts of all providers whom the text fits, at most `limit`; null where no provider can look for them. */
  readonly search: ((text: string, limit: number) => Promise<readonly UserInterface[]>) | null;
}

// --- a browser ------------------------------------------------------------------------------------------------

/**
 * This browser's session. Loaded only when it is first asked for, stored only when something was written, and
 * empty for a request that carries an `Authorization: Bearer` header: a bearer request never falls back to a cookie.
 */
export interface Session {
  /** A JSON value by its key, or undefined. */
  get(key: string): Promise<unknown>;
  /** Keeps a JSON value; undefined removes it. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * A random secret (at least 128 bits, base64url), made when it is first asked for. It lives as long as this browser's
   * session: it survives the new session id at sign-in, and ends at sign-out. It is never sent to the browser.
   */
  secret(): Promise<string>;
}

/** Who is signed in, for the request being answered. */
export interface Auth {
  /** The signed-in account, loaded once a request; null when nobody is, or the account is no longer active. */
  user(): Promise<UserInterface | null>;
  /**
   * Whose session this is, without loading the account, which may be gone or no longer active: for somebody who loads it
   * anyway. Null when nobody is signed in.
   */
  person(): Promise<PersonReference | null>;
  /** Signs in: a new session id replaces the former one. The data is kept unless another person was signed in before. */
  signIn(person: PersonReference): Promise<void>;
  /** Ends the session, with everything it held. */
  signOut(): Promise<void>;
  /**
   * The session-wide CSRF token, for a form's hidden field `_csrf` or the header `X-CSRF-Token`. While nobody is signed in it
   * is bound to a cookie, and stores nothing.
   */
  csrfToken(): Promise<string>;
}

// --- the application ------------------------------------------------------------------------------------------

/** A started application of the kit: with accounts, sessions and routes of its own. */
export interface Application extends BaseApplication {
  /** The account providers as one; without any when the application has none. */
  readonly accounts: Accounts;
  /** The session of the request being answered. Throws outside of one. */
  session(): Session;
  /** Who is signed in for the request being answered. Throws outside of one. */
  auth(): Auth;
}

/** An application before it is started: data and functions, nothing opened. */
export interface ApplicationDefinition extends Omit<BaseDefinition, 'register' | 'framework'> {
  /**
   * The account providers. With them come sessions, the session-wide CSRF check, the routes `login` and `logout`;
   * without them the application has none of these.
   */
  readonly accounts?: (services: {
    database: OpenedDatabase;
    passwordHasher: PasswordHasher;
  }) => readonly AccountProvider[];
  /** Adds the application's routes and event listeners, after the plugins registered. */
  readonly register?: (application: Application) => void | Promise<void>;
  /** In their order: a later one's defaults go over those of an earlier one. */
  readonly plugins?: readonly Plugin[];
}
