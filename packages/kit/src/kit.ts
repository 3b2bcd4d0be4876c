import path from 'node:path';
import type { Log } from '../../portico/src/contracts/log.ts';
import type { PasswordHasher } from '../../portico/src/contracts/password-hasher.ts';
import { createBranding, type Branding } from '../../portico/src/defaults/branding/branding.ts';
import { builtInFolder, createViews, SHARED_VIEWS } from '../../portico/src/defaults/views.ts';
import { FailedAttempts } from '../../portico/src/http/failed-attempts.ts';
import { throttleLog } from '../../portico/src/http/throttle-log.ts';
import { Speaking } from '../../portico/src/words/speaking.ts';
import { createAccounts } from './accounts/accounts.ts';
import { CsrfCheck } from './accounts/csrf.ts';
import { KnownBrowsers } from './accounts/known-browsers.ts';
import { argon2idHasher } from './accounts/password-hasher.ts';
import type { PeopleParts } from './accounts/request-context.ts';
import { Sessions } from './accounts/sessions.ts';
import { guardSignIn } from './accounts/sign-in.ts';
import {
  applicationName,
  brandingOf,
  directoryOf,
  type Configuration,
  type KitConfig,
} from '../../portico/src/application/configuration.ts';
import type { Accounts, ApplicationDefinition, OpenedDatabase, Plugin, Views } from '../../portico/src/application/contracts.ts';
import { HostEvents } from '../../portico/src/application/events.ts';

const KIT_VIEWS = builtInFolder('host', 'views');

/** What an application runs on, before anything is registered. */
export class Kit {
  readonly definition: ApplicationDefinition;
  readonly plugins: readonly Plugin[];
  readonly configuration: Configuration;
  /** The kit's own keys of the configuration. */
  readonly config: KitConfig;
  readonly directory: string;
  /** The origin of `public_url`. */
  readonly origin: string;
  /** What a proxy takes away from the paths of requests before they arrive; browsers are given it. */
  readonly removed: string;
  /** What stands before the paths of the kit's routes in a request that arrives. */
  readonly mountPath: string;
  /** The application's name for people. */
  readonly name: string;
  readonly log: Log;
  readonly database: OpenedDatabase;
  readonly events: HostEvents;
  readonly speaking: Speaking;
  readonly branding: Branding | null;
  readonly views: Views;
  readonly passwordHasher: PasswordHasher;
  readonly accounts: Accounts;
  /** Null in an application without accounts, as is `csrf`: there is nothing that a forged request could use. */
  readonly people: PeopleParts | null;
  readonly csrf: CsrfCheck | null;
  /** Logs that there are more passwords to check than can be. */
  readonly logOverload: () => void;

  /** `clock`: milliseconds since 1970. `random`: from 0 up to, and not including, 1. */
  constructor(
    definition: ApplicationDefinition,
    configuration: Configuration,
    log: Log,
    database: OpenedDatabase,
    clock: () => number,
    random: () => number,
  ) {
    const { config, kit } = configuration;
    this.definition = definition;
    this.plugins = definition.plugins ?? [];
    this.configuration = configuration;
    this.config = kit;
    this.directory = directoryOf(definition);
    this.origin = new URL(kit.public_url).origin;
    [this.removed, this.mountPath] = kit.base_path_stripped ? [kit.base_path, ''] : ['', kit.base_path];
    this.name = applicationName(config, this.origin);
    this.log = log;
    this.database = database;
    this.events = new HostEvents(log);
    const folder = definition.views ?? path.join(this.directory, 'views');
    this.speaking = new Speaking({
      ...this.plugins.find((plugin) => plugin.words !== undefined)?.words?.(config),
      folder: path.join(folder, 'words'),
    });
    this.branding = createBranding(brandingOf(config).branding, {
      directory: this.directory,
      basePath: kit.base_path,
    });
    this.views = this.#openViews(folder);
    // Two queues: a flood of sign-ins must not keep applications from authenticating with their secrets.
    this.passwordHasher = argon2idHasher({ atOnce: 1 });
    const providers = definition.accounts?.({ database, passwordHasher: argon2idHasher() }) ?? [];
    const failedAttempts = new FailedAttempts(clock, random);
    this.accounts = guardSignIn(createAccounts(providers), failedAttempts, this.events, log);
    const tokenSchemes = this.plugins.flatMap((plugin) => plugin.tokenSchemes?.(config) ?? []);
    const hasAccounts = definition.accounts !== undefined;
    this.people = hasAccounts ? this.#people(tokenSchemes, clock) : null;
    this.csrf = hasAccounts ? new CsrfCheck(this.origin, kit.csrf_exempt_routes, tokenSchemes) : null;
    this.logOverload = throttleLog((times) =>
      log.warning('Too many passwords to check: requests answered 503: {times}', { times }),
    );
  }

  #openViews(folder: string): Views {
    const { plugins, branding } = this;
    const ofPlugins = plugins.flatMap(({ views }) => (views === null ? [] : [views]));
    return createViews([folder, ...ofPlugins, KIT_VIEWS, SHARED_VIEWS], {
      reloads: this.configuration.mode === 'dev',
      data: branding === null ? {} : { branding: branding.view },
    });
  }

  #people(tokenSchemes: readonly string[], clock: () => number): PeopleParts {
    const { database, accounts } = this;
    const cookies = { secure: this.origin.startsWith('https:'), basePath: this.config.base_path };
    const sessions = new Sessions(database, this.config.session_ttl, cookies, tokenSchemes, clock);
    const knownBrowsers = new KnownBrowsers(database, cookies, tokenSchemes, clock);
    return { sessions, knownBrowsers, accounts, cookies, tokenSchemes };
  }
}
