/**
 * What the host kit promises to plugins, and what an application promises to the kit. Types only: the
 * authorization server imports this file as types, so that it never depends on the kit itself.
 */
import type { Command } from 'commander';
import type { Kysely } from 'kysely';
import type { ZodType } from 'zod';

/** A value of the merged configuration. */
export type ConfigValue = unknown;
/** A map of the configuration; keys are named in messages in the documents' form, `oauth_server:name`. */
export type ConfigMap = { readonly [key: string]: ConfigValue };
/** Environment values: the process's own, over those of `.env` (or of `.env.local`, which replaces it). */
export type Environment = Readonly<Record<string, string | undefined>>;

// --- people ---------------------------------------------------------------------------------------------------

/** Which account, without saying anything about it: the pair that a session keeps. Compared byte by byte. */
export interface PersonReference {
  /** Name of the account provider, at most 64 characters. */
  readonly provider: string;
  /** The account's identifier within its provider, at most 255 characters. */
  readonly id: string;
}

/** OpenID Connect standard claims of a person (OpenID Connect Core 5.1), as far as the host knows them. */
export interface Profile {
  /** The full name, as people are to see it. */
  readonly name?: string | undefined;
  /** The address that this person is reached at. */
  readonly email?: string | undefined;
  /** Whether somebody has shown that the address is theirs. */
  readonly email_verified?: boolean | undefined;
  readonly [claim: string]: unknown;
}

/** The host's user model. */
export interface UserInterface {
  /** Which account this is. */
  readonly reference: PersonReference;
  /** Whether this account may sign in now. A suspended account answers false. */
  isActive(): boolean;
  /** What is known of this person; the consent screen shows it and the granted scopes release it. */
  getProfile(): Profile;
}

/** One source of accounts. An application has one or more, each under its own name. */
export interface AccountProvider {
  /** Unique in the application; the `provider` of its accounts' references. */
  readonly name: string;
  /** Loads an account as it is now, or null when there is none of this id. Never answers from a cache. */
  find(id: string): Promise<UserInterface | null>;
  /**
   * The active account that these credentials belong to, or null. Takes the same time whatever is wrong. Tells `names`, before
   * the password is looked at, which account the identifier names, if any: for the event of a sign-in that fails.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether this account holds this permission now. */
  holdsPermission(id: string, permission: string): Promise<boolean>;
}

/** All providers of an application, seen as one. */
export interface Accounts {
  /** Loads an account as it is now; null when the provider or the account does not exist. */
  find(person: PersonReference): Promise<UserInterface | null>;
  /**
   * Asks each provider in its order; null when none accepts the credentials. The accounts of an application slow guessing down,
   * by where the request at hand comes from: after many failures they throw a SignInSlowedError, which is answered 429.
   */
  authenticate(
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<UserInterface | null>;
  /** Whether the account holds the permission now; false for an unknown account. */
  holdsPermission(person: PersonReference, permission: string): Promise<boolean>;
}

/** Hashes what people remember. Slow on purpose. */
export interface PasswordHasher {
  /** A self-describing hash (PHC string format), with a fresh salt. */
  hash(password: string): Promise<string>;
  /** Whether the password belongs to the hash; false for a hash that is not well formed. */
  verify(password: string, hash: string): Promise<boolean>;
}

// --- a request ------------------------------------------------------------------------------------------------

/** Placeholders of the route's path by name, percent-decoded: `/api/articles/{id}` gives `{ id }`. */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Placeholders arrive by name: `({ id }) => ...`. */
export type RouteHandler = (parameters: RouteParameters, request: Request) => Response | Promise<Response>;

/** A method that a route can answer; HEAD is answered as GET, without the body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A named route. Names are unique in an application; several methods may share one. */
export interface Route {
  /** Such as `api.notes.index`: what `path()` and `csrf_exempt_routes` know the route by. */
  readonly name: string;
  /** The methods that it answers; another one on its path is 405. */
  readonly methods: readonly HttpMethod[];
  /** Set when it answers each of them with 405: they are not offered, and no `Allow` names them. */
  readonly refusesMethods?: true;
  /** Absolute path, placeholders in braces: `/api/articles/{id}`. */
  readonly path: string;
  /** Answers the request; what it throws is mapped to a status by `ErrorHandler`. */
  readonly handler: RouteHandler;
}

/** Wraps every route of the application (not those of plugins), outermost first. */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;

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
   * A random secret (at least 128 bits, base64url) that is made when it is first asked for and lives exactly as
   * long as this browser's session: it survives the new session id at sign-in and ends at sign-out. It is never
   * sent to the browser.
   */
  secret(): Promise<string>;
}

/** Who is signed in, for the request at hand. */
export interface Auth {
  /** The signed-in account, loaded once a request; null when nobody is, or the account is no longer active. */
  user(): Promise<UserInterface | null>;
  /** Signs in: a new session id, the former one dead, the data kept only if the same person was signed in before. */
  signIn(person: PersonReference): Promise<void>;
  /** Ends the session, with everything it held. */
  signOut(): Promise<void>;
  /**
   * The session-wide CSRF token, for a form's hidden field `_csrf` or the header `X-CSRF-Token`. While nobody is signed in it
   * is bound to a cookie, and stores nothing.
   */
  csrfToken(): Promise<string>;
}

// --- storage --------------------------------------------------------------------------------------------------

/** The engines that an application can be on; MariaDB speaks `mysql`. */
export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/** What a statement gave. */
export interface SqlResult<Row> {
  /** The rows of a SELECT, or of a RETURNING; empty for another statement. */
  readonly rows: readonly Row[];
  /** Rows that an INSERT, UPDATE or DELETE matched. */
  readonly affected: number;
}

/** Runs one statement. Parameters are written `?` for every dialect. 64-bit integers arrive as numbers. */
export interface SqlConnection {
  /** Runs the statement. Rejects with the engine's own error; `isUnavailable` tells whether the store was away. */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<SqlResult<Row>>;
}

/** A value for a `?` of a statement. */
export type SqlParameter = string | number | null;

/** The passing of time, for what waits. */
export interface Timer {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls once, after so many milliseconds; answers what takes that back. */
  after(milliseconds: number, call: () => void): () => void;
}

/** The application's relational store. */
export interface Database extends SqlConnection {
  /** The engine that `database_url` names. */
  readonly dialect: SqlDialect;
  /** For a plugin's or an application's own typed queries. What `transaction` says of the work is true of its transactions. */
  readonly kysely: Kysely<Record<string, Record<string, unknown>>>;
  /**
   * Runs the work in one transaction (`BEGIN IMMEDIATE` on SQLite, READ COMMITTED elsewhere): what it returns
   * commits, what it throws rolls back. A deadlock or a serialisation failure runs the work again, so it must
   * have no effect but its statements. The work uses only the connection it is given, and waits for nothing else: what
   * asks this store otherwise is refused at once, a statement after the end is refused too, and a transaction that has begun
   * with its statements and waits 2 seconds for something else, or lasts 30, is rolled back. All of these are a
   * `TransactionError`. The end waits for statements that the work has not awaited.
   *
   * When the store is lost while it commits, nobody knows whether it did. Then, and only then, `committed` is asked, as
   * soon as the store answers again: true makes the work's answer the transaction's, false or a store that stays away
   * makes it fail as unavailable.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, answer: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs work whose reads answer one question together, such as what a token is good for. They see nothing older than the
   * moment the first of them runs, and on SQLite those that follow each other at once share one look at the file.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /** The same store for statements that may take long, such as those that change the schema: without a time limit. */
  patient(): Database;
  /** Whether an error says that the store cannot be reached or is too busy, as opposed to a wrong statement. */
  isUnavailable(error: unknown): boolean;
  /** Waits for what is under way and gives up the connections; nothing can be asked afterwards. */
  close(): Promise<void>;
}

/** How the engine at hand spells the kinds of column that a schema needs. */
export interface ColumnTypes {
  /** At most 255 characters, compared byte by byte: case and trailing spaces count. */
  readonly identifier: string;
  /** Text of any length, compared byte by byte. */
  readonly text: string;
  /** Milliseconds since 1970, 64 bits. */
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  /** A primary key that the engine counts up; a number is never given twice. */
  readonly counter: string;
  /** For the end of a CREATE TABLE whose primary key is not a counter. */
  readonly tableOptions: string;
}

/** What a step of the schema works with. */
export interface SchemaConnection extends SqlConnection {
  /** The engine that the schema is for. */
  readonly dialect: SqlDialect;
  /** How that engine spells the kinds of column. */
  readonly types: ColumnTypes;
  /**
   * Runs a statement that changes the schema. MySQL and MariaDB commit each of these by itself, so there a step that was
   * cut off is run again from its start: what it had done already is passed over then.
   */
  readonly change: (statement: string) => Promise<void>;
}

/** One step of the schema. Names sort in the order of application and start with the plugin's name. */
export interface Migration {
  /** Such as `oauth_server_0001_initial`. */
  readonly name: string;
  /** Statements that write data must stand being run twice, for the same reason as `change`. */
  up(schema: SchemaConnection): Promise<void>;
}

// --- the application ------------------------------------------------------------------------------------------

/** Where an application writes down what happens. The kit's never writes what stands under the name of a secret. */
export interface Log {
  /** What only somebody who looks for a fault wants to know; written at the level `debug` alone. */
  debug(message: string, context?: LogContext): void;
  /** What happened as it should. */
  info(message: string, context?: LogContext): void;
  /** What somebody should look at, though the request went on. */
  warning(message: string, context?: LogContext): void;
  /** What failed, for somebody to mend; the exception under `exception`. */
  error(message: string, context?: LogContext): void;
}
/** Values for the `{placeholders}` of a message; `{exception}` expands to the error with its stack and causes. */
export type LogContext = Readonly<Record<string, unknown>>;

/** The pages of an application, as Eta templates. */
export interface Views {
  /**
   * Renders a view by its name (`oauth/consent`); the application's own file of that name goes first. Throws a ViewError,
   * which names file and line, when the view cannot be compiled or fails.
   */
  render(name: string, data: Readonly<Record<string, unknown>>): Promise<string>;
  /** Those of all the folders' views that cannot be compiled, shown or not. */
  problems(): Promise<readonly ViewProblem[]>;
}

/** What is wrong with a view, and where. */
export interface ViewProblem {
  /** The view's file, absolute. */
  readonly file: string;
  /** Counted from 1; null when it is not known. */
  readonly line: number | null;
  /** In a few words. */
  readonly reason: string;
}

/** What happens in the application, by name, for whoever listens. */
export interface Events {
  /** Adds a listener. The two host hooks replace the response by what the listener returns. */
  on(event: string, listener: (payload: never) => unknown): void;
  /** Tells the listeners, in order. A listener that fails is logged and does not stop the others. */
  emit(event: string, payload: unknown): Promise<void>;
}

/** What is known of the connection that a request came on. */
export interface Connection {
  /** The other end, such as `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request's target as it was sent. A URL has its dot segments and backslashes rewritten, so that only here can be seen
   * that a path was not literally one of a route; without it the URL is believed.
   */
  readonly target?: string;
}

/** A step of the schema, and whether it is applied. */
export interface MigrationState {
  /** The step's name. */
  readonly name: string;
  /** ISO 8601; null for one that is still to be applied. */
  readonly appliedAt: string | null;
}

/** A started application, as plugins, commands and route handlers see it. */
export interface Application {
  /** The folder the application lives in, absolute. */
  readonly directory: string;
  /** Where the application keeps its files: `STORAGE_DIR`, or `storage` in its folder; absolute. */
  readonly storageDirectory: string;
  /** The process's environment over that of `.env`, or of `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`; `prod` when unset. */
  readonly mode: 'dev' | 'prod';
  /** Validated, with defaults. A plugin reads its own section. */
  readonly config: ConfigMap;
  /** The origin of `public_url`, such as `https://app.example.com`; it is the issuer. */
  readonly publicUrl: string;
  /** The store of `database_url`. */
  readonly database: Database;
  /** Every step of the application's schema, its plugins' too, in their order. */
  migrations(): Promise<readonly MigrationState[]>;
  /** Applies what is missing of it, or of the steps with these names; answers the names newly applied. */
  migrate(only?: (name: string) => boolean): Promise<readonly string[]>;
  /** The account providers as one; without any when the application has none. */
  readonly accounts: Accounts;
  /** For the secrets of applications; the account providers get one of their own. */
  readonly passwordHasher: PasswordHasher;
  /** The application's views before those of the plugins and of the kit. */
  readonly views: Views;
  /** Where listeners are added while the application registers its parts. */
  readonly events: Events;
  /** The log of `log:path`. */
  readonly log: Log;
  /** What plugins offer by name, such as `oauth_server`. */
  readonly services: Map<string, unknown>;
  /** Adds a route; throws when the name or the method and path are taken. Only while plugins register. */
  route(route: Route): void;
  /** Wraps the application's own routes. Only while plugins register. */
  middleware(middleware: Middleware): void;
  /** The path of a named route, placeholders filled and percent-encoded. Throws for an unknown name. */
  path(name: string, parameters?: RouteParameters): string;
  /** Whether a route of this name exists. */
  hasRoute(name: string): boolean;
  /** The session of the request being answered. Throws outside of one. */
  session(): Session;
  /** Who is signed in for the request being answered. Throws outside of one. */
  auth(): Auth;
  /** The application's one door. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Where the request being answered comes from: the other end of its connection, or with `trusted_proxies` what that
   * many proxies say in `X-Forwarded-For`. Null when it is not known. Throws outside of a request.
   */
  clientAddress(): string | null;
  /** Waits for what is under way and closes the store and the log. */
  close(): Promise<void>;
}

/** What a console command gets to work with. Data goes to standard output, everything else to standard error. */
export interface ConsoleContext {
  /**
   * Starts the application (once); throws a ConfigurationError that names every problem. With a `log:path` of `-` the log
   * goes to standard error, unless the command serves: standard output is for what it prints.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data on standard output. */
  print(line: string): void;
  /** Prints a JSON document on standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the reader on standard error. */
  note(line: string): void;
  /** Ends the command: one clear line on standard error, exit code 1. Throws, so nothing after it runs. */
  fail(line: string): never;
}

/** Adds commands to the console. Called for `--help` too, so it must not open anything. */
export type AddCommands = (program: Command, context: ConsoleContext) => void;

/** A part that an application adds to itself. */
export interface Plugin {
  /** Lower snake case; its section of the configuration carries the same name. */
  readonly name: string;
  /** Merged under the application's values: maps by key, arrays by position. */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /** How each top-level key of this plugin is validated; problems name the key in colon form. */
  readonly configuration: Readonly<Record<string, ZodType>>;
  /** What is wrong between keys that are each right by themselves; asked when all of them are. */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /** Its steps of the schema, in their order; empty for none. */
  readonly migrations: readonly Migration[];
  /** Folder of default views, absolute; null for none. */
  readonly views: string | null;
  /** Its console commands. */
  readonly commands: AddCommands;
  /** Adds routes, middleware and services to a starting application. The schema may not exist yet. */
  register(application: Application): void | Promise<void>;
  /** Runs the application's own `register`, so that it can have something at hand there. */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}

/** An application before it is started: data and functions, nothing opened. */
export interface ApplicationDefinition {
  /** The application's folder: `import.meta.dirname`. */
  readonly directory: string;
  /** The application's configuration, over the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /** In their order: a later one's defaults go over those of an earlier one. */
  readonly plugins?: readonly Plugin[];
  /**
   * The account providers. With them come sessions, the session-wide CSRF check, the routes `login` and `logout`;
   * without them the application has none of these.
   */
  readonly accounts?: (services: {
    database: Database;
    passwordHasher: PasswordHasher;
  }) => readonly AccountProvider[];
  /** The application's own steps of the schema, after those of the plugins. */
  readonly migrations?: readonly Migration[];
  /** Folder of the application's own views; default `views` in its folder. */
  readonly views?: string;
  /** The application's own console commands. */
  readonly commands?: AddCommands;
  /** Adds the application's routes and event listeners, after the plugins registered. */
  readonly register?: (application: Application) => void | Promise<void>;
}

/** What is wrong with a configuration: every problem, each naming its key in colon form and what to do. */
export interface ConfigurationProblem {
  /** In the documents' form, such as `oauth_server:access_token_ttl`. */
  readonly key: string;
  /** What is wrong and what to do; reads on from the key. */
  readonly message: string;
}
