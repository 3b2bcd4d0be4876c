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
  type Plugin,
  type Route,
  type RouteParameters,
  startApplication as startDefinition,
  type StartOptions,
  type WaitingFor,
} from 'portico';
import { StartedApplication } from 'portico/extension';
import { accountsMigration } from './accounts/database-accounts.ts';
import { secretsMigration } from './accounts/known-browsers.ts';
import { SignInPage } from './accounts/login.ts';
import { argon2idHasher } from './accounts/password-hasher.ts';
import { auth, clientAddress, session } from './accounts/request-context.ts';
import { sessionsMigration } from './accounts/session-rows.ts';
import { addServe } from './commands/serve.ts';
import type { Accounts, Application, ApplicationDefinition, Auth, Session } from './contracts.ts';
import { Dispatcher } from './dispatch.ts';
import { kitHost } from './host.ts';
import { Routes } from './http/routes.ts';
import { Kit } from './kit.ts';
import { KIT_VIEWS } from './views.ts';

/**
 * Describes an application. Opens nothing before it is started. The compiler rejects a
 * configuration key that neither the kit, nor a plugin, nor `configuration` knows.
 */
export function defineApplication<
  const Plugins extends readonly Plugin[] = readonly [],
  Own extends object = NoSections,
  const Returned extends ConfigInput<Plugins, Own> = ConfigInput<Plugins, Own>,
>(definition: ApplicationInput<Plugins, Own, Returned, ApplicationDefinition>): KitDefinition {
  return withKit(definition as ApplicationDefinition);
}

/** A definition that the kit serves, as `defineApplication` returns it. */
export interface KitDefinition extends ApplicationDefinition {
  /** The kit. */
  readonly framework: Framework;
}

/**
 * Every step of the application's schema, in order: the kit's own steps that it needs, those of its
 * plugins, and its own.
 */
export function migrationsOf(definition: ApplicationDefinition): readonly Migration[] {
  return baseMigrations(withKit(definition) as BaseDefinition);
}

/**
 * Starts an application: reads the environment and the configuration, opens the log and the store,
 * and lets the plugins and the application register their parts. Throws a ConfigurationError that
 * names every problem, and leaves nothing open.
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
      : [sessionsMigration, accountsMigration, secretsMigration],
  commands: (plugins) => [addServe(plugins)],
  async start(parts) {
    const application = new KitApplication(parts);
    await application.registerParts();
    return application;
  },
};

/** An application that the kit serves. */
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
    // Two queues, so that a flood of sign-ins does not keep applications from authenticating with
    // their secrets.
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

  /** Adds the sign-in page for an application without one. */
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

  /** The answer of the first plugin that sent the person to sign in. */
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

  protected override answers(path: string): boolean {
    return this.#routes.answers(path);
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

  override async close(): Promise<void> {
    await this.#dispatcher.ended();
    await super.close();
  }
}
