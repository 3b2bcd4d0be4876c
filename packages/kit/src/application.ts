import type { Migration } from '@portico/sql';
import {
  type ApplicationDefinition as BaseDefinition,
  type ApplicationInput,
  type ApplicationParts,
  type ConfigInput,
  type Connection,
  type Framework,
  migrationsOf as baseMigrations,
  type NoSections,
  type PersonReference,
  type Plugin,
  type Route,
  type RouteParameters,
  startApplication as startDefinition,
  type StartOptions,
  type WaitingFor,
} from 'portico';
import { StartedApplication } from 'portico/extension';
import { accountsMigration } from './accounts/accounts-migration.ts';
import { secretsMigration } from './accounts/known-browsers.ts';
import { SignInPage } from './accounts/login.ts';
import { argon2idHasher } from './accounts/password-hasher.ts';
import { auth, clientAddress, session } from './accounts/request-context.ts';
import {
  sessionsBySecretMigration,
  sessionsMigration,
  sessionsOfPersonMigration,
} from './accounts/session-rows.ts';
import { addServe } from './commands/serve.ts';
import type { Accounts, Application, ApplicationDefinition, Auth, Session } from './contracts.ts';
import { Dispatcher } from './dispatch.ts';
import { kitHost } from './host.ts';
import { Routes } from './http/routes.ts';
import { Kit } from './kit.ts';
import { KIT_VIEWS } from './views.ts';

/**
 * Describes an application without starting it. TypeScript reports configuration keys that neither
 * the kit, nor a plugin, nor `configuration` declares.
 *
 * @example
 * export default defineApplication({
 *   config,
 *   plugins: [oauthServer()],
 *   accounts: (services) => [databaseAccounts(services)],
 * });
 */
export function defineApplication<
  const Plugins extends readonly Plugin[] = readonly [],
  Own extends object = NoSections,
  const Returned extends ConfigInput<Plugins, Own> = ConfigInput<Plugins, Own>,
>(definition: ApplicationInput<Plugins, Own, Returned, ApplicationDefinition>): KitDefinition {
  return withKit(definition as ApplicationDefinition);
}

/** An application definition for the kit. `defineApplication` returns it. */
export interface KitDefinition extends ApplicationDefinition {
  /** The framework that runs the application: the kit. */
  readonly framework: Framework;
}

/**
 * Returns all migrations of the application's database schema: those of the kit, of the plugins and
 * of the application. `migrate` applies them in the order of their names. `config` is the validated
 * configuration, as in `Application.config`. Without `config`, omits migrations that only some
 * settings need.
 *
 * @example
 * await migrate(database, migrationsOf(definition, application.config));
 */
export function migrationsOf(
  definition: ApplicationDefinition,
  config: Application['config'] = {},
): readonly Migration[] {
  return baseMigrations(withKit(definition) as BaseDefinition, config);
}

/**
 * Starts an application. Reads the environment and the configuration, opens the log and the
 * database, and calls `register` of each plugin and of the application. Throws a ConfigurationError
 * that lists every problem with the configuration. If the start fails, closes everything it has
 * opened.
 *
 * @example
 * const application = await startApplication(definition);
 * await listen(application, { port: 8080, hostname: '127.0.0.1' });
 */
export async function startApplication(
  definition: ApplicationDefinition,
  options: StartOptions = {},
): Promise<Application> {
  return (await startDefinition(withKit(definition) as BaseDefinition, options)) as KitApplication;
}

function withKit(definition: ApplicationDefinition): KitDefinition {
  return { ...definition, framework: KIT };
}

const KIT: Framework = {
  migrations: (definition) =>
    (definition as ApplicationDefinition).accounts === undefined
      ? []
      : [
          sessionsMigration,
          accountsMigration,
          secretsMigration,
          sessionsOfPersonMigration,
          sessionsBySecretMigration,
        ],
  commands: (plugins) => [addServe(plugins)],
  async start(parts) {
    const application = new KitApplication(parts);
    await application.registerParts();
    return application;
  },
};

/** A started application that uses the kit. */
class KitApplication extends StartedApplication implements Application {
  readonly accounts: Accounts;
  readonly session: () => Session = session;
  readonly auth: () => Auth = auth;
  override readonly clientAddress: () => string | null = clientAddress;
  override readonly host = (signIn: string) => kitHost(this, signIn);
  readonly #kit: Kit;
  readonly #routes: Routes;
  readonly #dispatcher: Dispatcher;

  constructor(parts: ApplicationParts) {
    // This hasher and the one for users' passwords (see `Kit`) have separate queues. Otherwise,
    // many users who sign in at the same time could prevent clients from authenticating.
    super(parts, [KIT_VIEWS], argon2idHasher({ atOnce: 1 }));
    this.#kit = new Kit(this, parts);
    this.accounts = this.#kit.accounts;
    this.#routes = new Routes(this.#kit.removed);
    this.#dispatcher = new Dispatcher(this.#kit, this.#routes, this.middlewares);
  }

  protected override completeRoutes(): void {
    if (!this.hasRoute('login')) this.#addSignIn();
    super.completeRoutes();
  }

  /** Adds the kit's sign-in page. Called only if the application has no sign-in page. */
  #addSignIn(): void {
    const { config, name, csrf, logOverload, removed } = this.#kit;
    if (csrf === null) return;
    const page = new SignInPage(this, {
      name,
      csrf,
      logOverload,
      scripts: config.sign_in_scripts,
      showsPassword: config.sign_in_show_password,
      links: config.sign_in_links,
      waitingFor: (request, returnTo) => this.#firstWaiting(request, returnTo),
      mountPath: this.mountPath,
      home: `${removed}/`,
    });
    for (const route of page.signInRoutes()) this.#routes.add(route, 'sign-in');
    this.#routes.add(page.signOutRoute());
  }

  /**
   * Asks the plugins, in order, which application waits for the user to sign in. Returns the first
   * answer, or null if no plugin knows an application.
   */
  async #firstWaiting(request: Request, returnTo: string): Promise<WaitingFor | null> {
    for (const plugin of this.definition.plugins ?? []) {
      const waiting = await plugin.waitingFor?.(this, request, returnTo);
      if (waiting !== undefined && waiting !== null) return waiting;
    }
    return null;
  }

  protected override add(route: Route): void {
    this.#routes.add(route, this.phase === 'application' ? 'application' : 'plugin');
  }

  protected override answers(route: Route): boolean {
    return this.#routes.answers(route);
  }

  override hasRoute(name: string): boolean {
    return this.#routes.has(name);
  }

  override path(name: string, parameters?: RouteParameters): string {
    return this.#routes.path(name, parameters);
  }

  override fetch(request: Request, connection: Connection = { address: null }): Promise<Response> {
    return this.#dispatcher.fetch(request, connection);
  }

  async endSessions(person: PersonReference): Promise<number> {
    return (await this.#kit.people?.sessions.rows.removeOfPerson(person)) ?? 0;
  }

  override async close(): Promise<void> {
    await this.#dispatcher.ended();
    await super.close();
  }
}
