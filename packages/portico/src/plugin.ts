import { ConfigurationError } from '@portico/sql';
import path from 'node:path';
import { AUDIT } from './auditing/audit.ts';
import type { Application } from './application/started-application.ts';
import type { ConfigMap } from './application/config-map.ts';
import type { Plugin } from './application/plugin.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { assembleServer } from './assembly/authorization-server.ts';
import type { ServerParts } from './assembly/foundation.ts';
import { getBranding } from './assembly/branding.ts';
import { featureProblems, withProfile } from './assembly/feature-profiles.ts';
import {
  collectAlgorithms,
  collectCatalogs,
  collectTokenSchemes,
} from './assembly/start-features.ts';
import { completeHost, type HostDefaults } from './assembly/complete-host.ts';
import { BUILT_IN_VIEWS } from './pages/views.ts';
import type { KeySigner } from './keys/signers.ts';
import type { OAuthServerConfig, OAuthServerConfigInput } from './config.ts';
import { getApplicationKeys, configurationWith } from './assembly/feature-configuration.ts';
import type { Feature } from './feature.ts';
import { featuresWith } from './features.ts';
import { examineLoginRoute } from './console/application-checks.ts';
import type { ClientChoices } from './console/commands/client-create.ts';
import { authorizationServerOf, OAUTH_SERVER } from './console/open-server.ts';
import { csrfExemptRoutes } from './endpoints/table.ts';
import type { CompleteHost, Host } from './host/host.ts';
import type { OutboundOptions } from './http/outbound/guarded-request.ts';
import { getSpeakingOptions } from './tokens/scopes.ts';
import { migrationsWith } from './assembly/migrations.ts';
import { oauthServerMigrations } from './store/migrations/index.ts';

/** The options of the plugin, in addition to the configuration. */
export interface OAuthServerPluginOptions<Context = unknown> {
  /**
   * Your host, in place of the kit's accounts, sessions and sign-in. You can pass a function that
   * receives the kit application. If your host has no log, views, hasher or audit, Portico uses the
   * kit's.
   */
  readonly host?: Host<Context> | ((application: Application) => Host<Context>);
  /** Returns the time in milliseconds since 1970. Defaults to the system clock. */
  readonly clock?: () => number;
  /**
   * Returns a random number from 0 up to, but not including, 1. Defaults to the system's source.
   */
  readonly random?: () => number;
  /**
   * The settings for requests to other servers, for example for client documents, keys and logos.
   * Default: the system's settings.
   */
  readonly outbound?: OutboundOptions;
  /**
   * Your own features, in addition to Portico's (docs/extending.md). Their configuration keys go
   * into the section `oauth_server`. Their endpoints become routes of the application.
   *
   * @example
   * defineApplication({ config, plugins: [oauthServer({ features: [maintenance] })] });
   */
  readonly features?: readonly Feature[];
  /** Signing keys outside the key directory, for example in a hardware module. Default: none. */
  readonly keySigners?: readonly KeySigner[];
}

/**
 * Creates the plugin that turns a kit application into an authorization server. It adds the section
 * `oauth_server`, the migrations, the console commands, and `token()` for your own routes. It adds
 * the endpoints, unless `oauth_server:routes` is false.
 *
 * Without the kit, the option `host` is required. Without both, `startApplication` throws a
 * ConfigurationError.
 *
 * @example
 * export default defineApplication({ config, plugins: [oauthServer({ host })] });
 */
export function oauthServer<Context = unknown>({
  host,
  ...options
}: OAuthServerPluginOptions<Context> = {}): Plugin<{ oauth_server: OAuthServerConfigInput }> {
  const features = featuresWith(options.features);
  return {
    name: 'oauth_server',
    defaults: {
      oauth_server: {},
      csrf_exempt_routes: csrfExemptRoutes(features),
    },
    configuration: {
      oauth_server: configurationWith(options.features ?? []),
      ...getApplicationKeys(features),
    },
    problems: (config) =>
      featureProblems(features, sectionOf(config), config['public_url'] as string),
    words: (config) => ({
      ...getSpeakingOptions(sectionOf(config)),
      catalogs: collectCatalogs(features),
    }),
    branding: (config, place) =>
      getBranding(features, sectionOf(config), { ...place, application: config }),
    tokenSchemes(config) {
      const section = withProfile(features, sectionOf(config));
      return collectTokenSchemes(features, section);
    },
    migrations({ oauth_server: section }) {
      return section === undefined
        ? oauthServerMigrations
        : migrationsWith(section as OAuthServerConfig, options.features);
    },
    views: BUILT_IN_VIEWS,
    async waitingFor(application, request, returnTo) {
      const server = authorizationServerOf(application);
      return server.host.tellsWhoWaits ? server.waitingFor(request, returnTo) : null;
    },
    async commands(program, context) {
      const { addServerCommands } = await import('./console/commands/index.ts');
      addServerCommands(clientChoices(features))(program, context);
      for (const feature of features) (await feature.commands?.())?.(program, context);
    },
    warnings(application) {
      const found = examineLoginRoute({ application, server: authorizationServerOf(application) });
      return found.outcome === 'failing'
        ? [`no one can sign in: ${found.detail}; ${found.remedy}`]
        : [];
    },
    register(application) {
      const server = assembleServer(serverParts(application, host, options));
      registerServer(application, server);
      for (const feature of features) feature.register?.(application, server);
    },
  };
}

function sectionOf(config: ConfigMap): OAuthServerConfig {
  return config['oauth_server'] as OAuthServerConfig;
}

function registerServer(application: Application, server: AuthorizationServer): void {
  application.services.set(OAUTH_SERVER, server);
  application.middleware((request, next) => {
    server.outbox.start();
    return server.withToken(request, next);
  });
  application.onClose(() => server.outbox.stop());
  const endpoints = server.config.routes ? server.endpoints : [];
  for (const { name, path, methods, handle } of endpoints)
    application.route({ name, path, methods, handler: (_, request) => handle(request) });
}

function clientChoices(features: readonly Feature[]): ClientChoices {
  return {
    demands: features.flatMap(({ clientDemands = [] }) => clientDemands),
    fields: features.flatMap(({ clientMetadata = [] }) => clientMetadata),
    profiles: features.flatMap(({ profile }) => profile ?? []),
    algorithms: collectAlgorithms(features).names,
  };
}

function serverParts<Context>(
  application: Application,
  host: OAuthServerPluginOptions<Context>['host'],
  options: Omit<OAuthServerPluginOptions<Context>, 'host'>,
): ServerParts {
  return {
    publicUrl: application.publicUrl,
    basePath: application.basePath,
    basePathStripped: application.config['base_path_stripped'] === true,
    config: configurationWithKeyPath(application),
    host: (browsers, sessions) =>
      host === undefined
        ? getHost(application)
        : completeHost(
            typeof host === 'function' ? host(application) : host,
            kitDefaults(application),
            browsers,
            sessions,
          ),
    database: application.database,
    migrations: () => application.migrations(),
    branding: application.branding,
    showsDetails: application.mode === 'dev',
    speaking: application.speaking,
    examined: application,
    ...(application.telemetry === null ? {} : { telemetry: application.telemetry }),
    ...options,
  };
}

const DEFAULT_KEY_PATH = path.join('storage', 'oauth', 'keys');

function configurationWithKeyPath(application: Application): OAuthServerConfig {
  const config = sectionOf(application.config);
  // By default, the keys are in STORAGE_DIR (AS-2.8).
  const keyPath =
    path.normalize(config.key_path) === DEFAULT_KEY_PATH
      ? path.join(application.storageDirectory, 'oauth', 'keys')
      : path.resolve(application.directory, config.key_path);
  return { ...config, key_path: keyPath };
}

function kitDefaults(application: Application): HostDefaults {
  const { log, passwordHasher, views, events } = application;
  return {
    log: () => log,
    passwordHasher: () => passwordHasher,
    renderer: () => (view, data) => views.render(view, data),
    clientAddress() {
      try {
        return application.clientAddress();
      } catch {
        // The kit is not handling a request, so there is no address.
        return null;
      }
    },
    audit: (event) => events.emit(AUDIT, event),
  };
}

/** Throws a ConfigurationError without a kit and without the option `host`. */
function getHost(application: Application): CompleteHost {
  const { login_route: signIn } = application.config['oauth_server'] as OAuthServerConfig;
  if (application.host !== null) {
    const { log, passwordHasher, views, events } = application;
    return {
      accountFor: null,
      ...application.host(signIn),
      tellsWhoWaits: true,
      passwordHasher,
      render: (view, data) => views.render(view, data),
      clientAddress: () => application.clientAddress(),
      audit: (event) => events.emit(AUDIT, event),
      log,
      commit: null,
    };
  }
  const message =
    'needs a host; pass oauthServer({ host }), or define the application with @portico/kit';
  throw new ConfigurationError([{ key: 'plugins:oauth_server', message }]);
}
