import type { Contributions } from './start-features.ts';
import {
  ConfigurationError,
  type Database,
  type MigrationState,
  migrationStatus,
} from '@portico/sql';
import { Accounts } from '../host/accounts.ts';
import type { Audit } from '../auditing/audit.ts';
import type { OAuthServerConfig } from '../config.ts';
import { NO_AUDIT_SINK, serverAudit } from '../auditing/server-audit.ts';
import { Browsers } from '../authorization/browsers.ts';
import { CookieSealer } from '../authorization/cookie-keys.ts';
import { TrustedIssuers } from '../keys/assertions/trusted-issuers.ts';
import { admitsClient } from '../clients/client-source.ts';
import { readKeySet } from '../clients/key-sets.ts';
import {
  collectAlgorithms,
  demandsOfFeatures,
  startFeatures,
  collectCatalogs,
  collectTokenSchemes,
} from './start-features.ts';
import type { Feature } from '../feature.ts';
import { featuresWith } from '../features.ts';
import { browserPaths } from '../paths.ts';
import type { Branding } from '../pages/branding.ts';
import { basePathProblems, strippedProblems } from '../http/base-path.ts';
import { systemRandom } from '../http/failed-attempts.ts';
import { isLoopback } from '../http/loopback.ts';
import { branded, brandingWithoutApplication } from './branding.ts';
import type { CompleteHost } from '../host/host.ts';
import { KeyFiles } from '../keys/key-files.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { buildSigningKeys } from '../keys/signers.ts';
import type { Measuring } from '../measuring.ts';
import { findOnly } from './feature-conflicts.ts';
import { featureProblems, collectProfiles, requireNeeds, withProfile } from './feature-profiles.ts';
import type { Server } from '../server.ts';
import { fieldsOfFeatures, migrationsWith, sendsMessages } from './migrations.ts';
import { FurtherMetadata } from '../store/further-metadata.ts';
import { Outbox } from '../outbox/outbox.ts';
import { SessionEnds } from '../host/session-ends.ts';
import { Pruning } from '../store/pruning.ts';
import { SingleUses } from '../store/single-uses.ts';
import { Speaking } from '../pages/speaking.ts';
import { Resources } from '../tokens/resource-indicators.ts';
import { createScopeCatalog, getSpeakingOptions } from '../tokens/scopes.ts';
import { Store, type FeatureRecords } from '../store/store.ts';
import type { AuthorizationServerOptions } from './authorization-server-options.ts';
import type { ExaminedApplication } from '../examination.ts';

/** The options of a server. `host` returns the complete host. */
export interface ServerParts extends Omit<AuthorizationServerOptions, 'host'> {
  readonly host: (browsers: Browsers, sessions: SessionEnds) => CompleteHost;
  /** Returns all migrations of the application. Default: those of the server. */
  readonly migrations?: () => Promise<readonly MigrationState[]>;
  /**
   * Chooses the language of the host's pages. Default: the languages in the configuration and in
   * `messages`.
   */
  readonly speaking?: Speaking;
  /**
   * The branding of pages, or null for Portico's design. Default: the branding in the
   * configuration.
   */
  readonly branding?: Branding | null;
  /** The application for the doctor page of `@portico/admin`. Default: only the database. */
  readonly examined?: ExaminedApplication;
}

export interface Foundation {
  readonly server: Server;
  readonly features: readonly Feature[];
  readonly contributions: Contributions;
  readonly sessions: SessionEnds;
}

/**
 * Creates the objects that endpoints and features share, and starts the features. Does not access
 * the database. Throws a ConfigurationError if the configuration has problems.
 */
export function layFoundation(options: ServerParts): Foundation {
  const { database, clock = Date.now, random = systemRandom } = options;
  const features = featuresWith(options.features);
  requireNoProblems(options, features);
  const settings = readSettings(options, features);
  const { config, issuer, basePath, fetching } = settings;
  const measuring = buildMeasuring(options, features, () => host.log);
  const store = buildStore(database, features, measuring, () => contributions);
  const sealer = new CookieSealer(store.cookieKeys, clock, config.consent_ttl * 1000);
  const { branding = brandingWithoutApplication(features, config, basePath) } = options;
  const sessions = new SessionEnds(
    database,
    () => contributions.sessionEnds,
    () => host.log,
  );
  const browsers = new Browsers(sealer, issuer, basePath);
  const host = branded(options.host(browsers, sessions), branding);
  const shared = { clock, log: host.log };
  let auditSink = NO_AUDIT_SINK;
  const audit = serverAudit(host, () => auditSink);
  const pruning = new Pruning(
    store.expired,
    () => contributions,
    settings.admitsUnverified,
    clock,
    host.log,
  );
  const singleUses = new SingleUses(store.singleUses, pruning);
  const isNeeded = () => signsIdTokens(store, database);
  const migrations = migrationsWith(config, options.features);
  const isOn = sendsMessages(features, config);
  const deliveries = () => contributions.deliveries;
  const issuers = features.flatMap((feature) => feature.trustedIssuers?.(config) ?? []);
  const server: Server = {
    ...settings,
    host,
    database,
    migrations: options.migrations ?? (() => migrationStatus(database, migrations)),
    store,
    clock,
    random,
    accounts: new Accounts(host, clock, collectTokenSchemes(features, config)),
    keys: buildKeys(options, features, config, { ...shared, audit }, isNeeded),
    takesKeys: () => contributions.clientAssertions !== null,
    workloadTypes: () => contributions.workloads.map(({ type }) => type),
    grantTypes: () => contributions.grantTypes,
    audit,
    pruning,
    furtherMetadata: new FurtherMetadata(database, fieldsOfFeatures(features, config), fetching),
    outbox: new Outbox({ database, isOn, deliveries, random, ...shared }),
    singleUses,
    trustedIssuers: new TrustedIssuers(issuers, fetching, readKeySet, singleUses),
    givenAccess: () => contributions.givenAccess,
    sealer,
    branding,
    measuring,
  };
  const contributions = startFeatures(features, server);
  auditSink = contributions.auditSink;
  requireNeeds(features, config, contributions);
  return { server, features, contributions, sessions };
}

/**
 * Returns the store with the classes of features. Features cannot replace Portico's classes. With
 * telemetry, calls are measured.
 */
function buildStore(
  database: Database,
  features: readonly Feature[],
  measuring: Measuring | null,
  later: () => Contributions,
): Store & FeatureRecords {
  const records = features.map((feature) => feature.records?.(database) ?? {});
  const own = new Store(
    database,
    (id) => admitsClient(id, later().clientSource),
    (holder) => later().furtherGrants[holder],
  );
  const store = Object.assign({} as FeatureRecords, ...records, own) as Store & FeatureRecords;
  return measuring === null ? store : measuring.wrapStore(store);
}

/** The values that depend only on the options and the features. */
function readSettings(options: ServerParts, features: readonly Feature[]) {
  const { publicUrl, basePath = '', basePathStripped = false, clock = Date.now } = options;
  const config = withProfile(features, options.config);
  const { origin } = new URL(publicUrl);
  const mounting = { basePath, mountPath: basePathStripped ? '' : basePath };
  const audience = config.audience === '' ? null : config.audience;
  const scopes = createScopeCatalog(config.scopes);
  const resources = features.flatMap((feature) => feature.resources?.(config, publicUrl) ?? []);
  const arrivals = features.flatMap((feature) => feature.arrivals?.(config) ?? []);
  const allowsLoopback = (options.showsDetails ?? false) && isLoopback(new URL(publicUrl));
  return {
    issuer: `${origin}${basePath}`,
    origin,
    ...mounting,
    config,
    audience,
    scopes,
    resources: new Resources(audience, scopes, resources),
    scopeHeadings: features.flatMap((feature) => feature.scopeHeadings?.(config) ?? []),
    arrivals,
    admitsUnverified: arrivals.length > 0,
    demands: demandsOfFeatures(features, config),
    profiles: collectProfiles(features, config),
    fetching: { ...options.outbound, allowsLoopback, anyPort: allowsLoopback, clock },
    paths: browserPaths(mounting),
    speaking:
      options.speaking ??
      new Speaking({
        ...getSpeakingOptions(config),
        folder: options.messages ?? null,
        catalogs: collectCatalogs(features),
      }),
  };
}

function buildKeys(
  { keySigners = [] }: ServerParts,
  features: readonly Feature[],
  config: OAuthServerConfig,
  shared: {
    readonly audit: Audit;
    readonly clock: () => number;
    readonly log: CompleteHost['log'];
  },
  isNeeded: () => Promise<boolean>,
): KeyRing {
  const algorithms = collectAlgorithms(features);
  return new KeyRing({
    ...shared,
    algorithms,
    signers: buildSigningKeys(keySigners, algorithms),
    files: new KeyFiles(config.key_path, algorithms),
    idTokenLifetime: config.id_token_ttl,
    isNeeded,
  });
}

/** Returns null without telemetry. */
function buildMeasuring(
  { telemetry, database }: ServerParts,
  features: readonly Feature[],
  log: () => CompleteHost['log'],
): Measuring | null {
  const all = features.map((feature): readonly [Feature, Feature] => [feature, feature]);
  const feature = findOnly(all, 'measuring');
  if (telemetry === undefined || feature === null) return null;
  const errorCodes = features.flatMap((each) => each.errorCodes ?? []);
  return feature.measuring?.(telemetry, database, log, errorCodes) ?? null;
}

/**
 * Returns true if any authorization has the scope `openid`. The server then needs a signing key.
 */
function signsIdTokens({ authorizations }: Store, database: Database): Promise<boolean> {
  return authorizations.hasOpenidFamily().catch((error: unknown) => {
    if (database.isUnavailable(error)) throw error;
    // Without tables, there are no authorizations.
    return false;
  });
}

function requireNoProblems(
  { config, publicUrl, basePath = '', basePathStripped = false }: ServerParts,
  features: readonly Feature[],
): void {
  const problems = [
    ...basePathProblems(basePath).map((message) => ({ key: 'base_path', message })),
    ...strippedProblems(basePath, basePathStripped).map((message) => ({
      key: 'base_path_stripped',
      message,
    })),
    ...featureProblems(features, config, publicUrl),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}
