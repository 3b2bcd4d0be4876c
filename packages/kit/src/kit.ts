import {
  FailedAttempts,
  OAUTH_SERVER,
  throttleLog,
  type StartedApplication,
} from 'portico/extension';
import {
  authorizationServerOf,
  type ApplicationParts,
  type Branding,
  type KitConfig,
  type Log,
  type Speaking,
  type Views,
} from 'portico';
import { applicationName, type HostEvents } from 'portico/extension';
import type { OpenedDatabase } from '@portico/sql';
import { createAccounts } from './accounts/accounts.ts';
import { CsrfCheck } from './accounts/csrf.ts';
import { KnownBrowsers } from './accounts/known-browsers.ts';
import { argon2idHasher } from './accounts/password-hasher.ts';
import type { PeopleParts } from './accounts/request-context.ts';
import type { TellsEnd } from './accounts/session-rows.ts';
import { Sessions } from './accounts/sessions.ts';
import { guardSignIn } from './accounts/sign-in.ts';
import type { Accounts, ApplicationDefinition } from './contracts.ts';

/** The objects that the kit creates before the plugins register. */
export class Kit {
  /** The kit's own settings. */
  readonly config: KitConfig;
  /** The path prefix that a proxy removes from request paths. Browsers see this prefix. */
  readonly removed: string;
  /** The application's name, as shown to users. */
  readonly name: string;
  readonly log: Log;
  readonly database: OpenedDatabase;
  readonly events: HostEvents;
  readonly speaking: Speaking;
  readonly branding: Branding | null;
  readonly views: Views;
  readonly accounts: Accounts;
  /**
   * The accounts, the sessions and their cookie settings. Null if the application has no accounts.
   * In this case, `csrf` is also null, because there are no sessions to protect.
   */
  readonly people: PeopleParts | null;
  readonly csrf: CsrfCheck | null;
  /** Logs a warning that too many password checks are queued. */
  readonly logOverload: () => void;

  constructor(application: StartedApplication, parts: ApplicationParts) {
    const { database, log, clock, random } = parts;
    const { config, kit } = parts.configuration;
    const { accounts: open, plugins = [] } = parts.definition as ApplicationDefinition;
    this.config = kit;
    this.removed = kit.base_path_stripped ? kit.base_path : '';
    this.name = applicationName(config, application.publicUrl);
    this.log = log;
    this.database = database;
    this.events = application.events;
    this.speaking = application.speaking;
    this.branding = application.branding;
    this.views = application.views;
    const providers = open?.({ database, passwordHasher: argon2idHasher(), clock }) ?? [];
    const failedAttempts = new FailedAttempts(clock, random);
    this.accounts = guardSignIn(createAccounts(providers), failedAttempts, this.events, log);
    const tokenSchemes = plugins.flatMap((plugin) => plugin.tokenSchemes?.(config) ?? []);
    const { publicUrl } = application;
    this.people =
      open === undefined
        ? null
        : this.#people(publicUrl, tokenSchemes, clock, async (connection, ended) => {
            // There is no server to notify if the application has no authorization server, or if
            // the plugin has not created the server yet.
            if (!application.services.has(OAUTH_SERVER)) return async () => {};
            return authorizationServerOf(application).sessionEndedIn(connection, ended);
          });
    this.csrf =
      open === undefined ? null : new CsrfCheck(publicUrl, kit.csrf_exempt_routes, tokenSchemes);
    this.logOverload = throttleLog((times) =>
      log.warning('Too many password checks at once; requests answered with 503: {times}', {
        times,
      }),
    );
  }

  #people(
    origin: string,
    tokenSchemes: readonly string[],
    clock: () => number,
    tellsEnd: TellsEnd,
  ): PeopleParts {
    const { database, accounts } = this;
    const cookies = { secure: origin.startsWith('https:'), basePath: this.config.base_path };
    const sessions = new Sessions(
      database,
      this.config.session_ttl,
      cookies,
      tokenSchemes,
      clock,
      tellsEnd,
    );
    const knownBrowsers = new KnownBrowsers(database, cookies, tokenSchemes, clock);
    return { sessions, knownBrowsers, accounts, cookies, tokenSchemes };
  }
}
