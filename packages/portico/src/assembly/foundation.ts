import type { Contributions } from './start-features.ts';
import {
  ConfigurationError,
  type Database,
  type MigrationState,
  migrationStatus,
} from '@portico/sql';
import { Accounts } from '../accounts.ts';
import { NO_AUDIT_SINK, serverAudit } from '../auditing/server-audit.ts';
import { Browsers } from '../authorization/browsers.ts';
import { CookieSealer } from '../authorization/cookie-keys.ts';
import { TrustedIssuers } from '../assertions/trusted-issuers.ts';
import { admitsClient } from '../clients/client-source.ts';
import { readKeySet } from '../clients/key-sets.ts';
import {
  collectAlgorithms,
  demandsOfFeatures,
  startFeatures,
  collectCatalogs,
} from './start-features.ts';
import type { Feature } from '../feature.ts';
import { featuresWith } from '../features.ts';
import { browserPaths } from '../paths.ts';
import type { Branding } from '../branding.ts';
import { basePathProblems, strippedProblems } from '../http/base-path.ts';
import { systemRandom } from '../http/failed-attempts.ts';
import { isLoopback } from '../http/loopback.ts';
import { branded, brandingWithoutApplication } from './branding.ts';
import type { CompleteHost } from '../host.ts';
import { KeyFiles } from '../keys/key-files.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { buildSigningKeys } from '../keys/signers.ts';
import type { Measuring } from '../measuring.ts';
import { findOnly } from './feature-conflicts.ts';
import { featureProblems, collectProfiles, requireNeeds, withProfile } from './feature-profiles.ts';
import type { Server } from '../server.ts';
import { fieldsOfFeatures, migrationsWith, sendsMessages } from './migrations.ts';
import { FurtherMetadata } from '../further-metadata/further-metadata.ts';
import { Outbox } from '../outbox/outbox.ts';
import { SessionEnds } from '../session-ends.ts';
import { Pruning } from '../store/pruning.ts';
import { SingleUses } from '../store/single-uses.ts';
import { Speaking } from '../words/speaking.ts';
import { Resources } from '../tokens/resource-indicators.ts';
import { createScopeCatalog, getSpeakingOptions } from '../tokens/scopes.ts';
import { Store } from '../store/store.ts';
import type { AuthorizationServerOptions } from '../authorization-server-options.ts';
import type { ExaminedApplication } from '../examination.ts';

/** The server's options, and the parts that complete its host. */
export interface ServerParts extends Omit<AuthorizationServerOptions, 'host'> {
  readonly host: (browsers: Browsers, sessions: SessionEnds) => CompleteHost;
  /** Returns every schema migration of the application. Defaults to the server's own migrations. */
  readonly migrations?: () => Promise<readonly MigrationState[]>;
  /** The languages of the host's pages. Defaults to those of the configuration and `messages`. */
  readonly speaking?: Speaking;
  /**
   * The branding of pages; null for Portico's own design. Defaults to that of the configuration.
   */
  readonly branding?: Branding | null;
  /** What the doctor's page for administrators examines. Defaults to the store only. */
  readonly examined?: ExaminedApplication;
}

/** The foundation of all other parts. */
export interface Foundation {
  readonly server: Server;
  readonly features: readonly Feature[];
  readonly contributions: Contributions;
  readonly sessions: SessionEnds;
}

/**
 * Creates what the server's parts share, and starts its features. Opens nothing and writes nothing.
 * Throws a ConfigurationError that names every problem.
 */
export function layFoundation(options: ServerParts): Foundation {
  const { publicUrl, database, clock = Date.now, random = systemRandom } = options;
  const { basePath = '', basePathStripped = false, showsDetails = false, outbound = {} } = options;
  const features = featuresWith(options.features);
  requireNoProblems(options, features, basePath, basePathStripped);
  const config = withProfile(features, options.config);
  const { origin } = new URL(publicUrl);
  const issuer = `${origin}${basePath}`;
  const mounting = { basePath, mountPath: basePathStripped ? '' : basePath };
  const measuring = buildMeasuring(options, features, () => host.log);
  const sqlStore = new Store(
    database,
    (id) => admitsClient(id, contributions.clientSource),
    (holder) => contributions.furtherGrants[holder],
  );
  const arrivals = features.flatMap((feature) => feature.arrivals?.(config) ?? []);
  const admitsUnverified = arrivals.length > 0;
  const store = measuring === null ? sqlStore : measuring.wrapStore(sqlStore);
  const sealer = new CookieSealer(store.cookieKeys, clock, config.consent_ttl * 1000);
  const branding =
    options.branding === undefined
      ? brandingWithoutApplication(features, config, basePath)
      : options.branding;
  const sessions = new SessionEnds(database, () => contributions.sessionEnds);
  const browsers = new Browsers(sealer, issuer, basePath);
  const host = branded(options.host(browsers, sessions), branding);
  const { log } = host;
  let auditSink = NO_AUDIT_SINK;
  const audit = serverAudit(host, () => auditSink);
  const pruning = new Pruning({
    store: store.expired,
    expiring: () => contributions.expiring,
    registrations: admitsUnverified,
    singleUses: () => contributions.usesOnce,
    clock,
    log,
  });
  const algorithms = collectAlgorithms(features);
  const signers = buildSigningKeys(options.keySigners ?? [], algorithms);
  const keys = new KeyRing({
    audit,
    log,
    clock,
    algorithms,
    signers,
    files: new KeyFiles(config.key_path, algorithms),
    idTokenLifetime: config.id_token_ttl,
    isNeeded: () => signsIdTokens(store, database),
  });
  const audience = config.audience === '' ? null : config.audience;
  const scopes = createScopeCatalog(config.scopes);
  const allowsLoopback = showsDetails && isLoopback(new URL(publicUrl));
  const fetching = { ...outbound, allowsLoopback, anyPort: allowsLoopback, clock };
  const singleUses = new SingleUses(store.singleUses, pruning);
  const server: Server = {
    issuer,
    origin,
    ...mounting,
    config,
    host,
    database,
    migrations:
      options.migrations ??
      (() => migrationStatus(database, migrationsWith(config, options.features))),
    store,
    clock,
    random,
    audience,
    scopes,
    resources: new Resources(
      audience,
      scopes,
      features.flatMap((feature) => feature.resources?.(config, publicUrl) ?? []),
    ),
    scopeHeadings: features.flatMap((feature) => feature.scopeHeadings?.(config) ?? []),
    accounts: new Accounts(host),
    keys,
    arrivals,
    takesKeys: () => contributions.clientAssertions !== null,
    grantTypes: () => contributions.grantTypes,
    admitsUnverified,
    demands: demandsOfFeatures(features, config),
    profiles: collectProfiles(features, config),
    audit,
    pruning,
    furtherMetadata: new FurtherMetadata(database, fieldsOfFeatures(features, config), fetching),
    outbox: new Outbox({
      database,
      isOn: sendsMessages(features, config),
      deliveries: () => contributions.deliveries,
      clock,
      random,
      log,
    }),
    singleUses,
    trustedIssuers: new TrustedIssuers(
      features.flatMap((feature) => feature.trustedIssuers?.(config) ?? []),
      fetching,
      readKeySet,
      singleUses,
    ),
    givenAccess: () => contributions.givenAccess,
    sealer,
    fetching,
    paths: browserPaths(mounting),
    branding,
    speaking:
      options.speaking ??
      new Speaking({
        ...getSpeakingOptions(config),
        folder: options.messages ?? null,
        catalogs: collectCatalogs(features),
      }),
    measuring,
  };
  const contributions = startFeatures(features, server);
  auditSink = contributions.auditSink;
  requireNeeds(features, config, contributions);
  return { server, features, contributions, sessions };
}

/** Returns what measures the server. Null if the application has no telemetry. */
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

/** Whether any authorization includes ID tokens, so that a server without keys needs one. */
function signsIdTokens({ authorizations }: Store, database: Database): Promise<boolean> {
  return authorizations.hasOpenidFamily().catch((error: unknown) => {
    if (database.isUnavailable(error)) throw error;
    // Without a schema, there are no authorizations.
    return false;
  });
}

function requireNoProblems(
  { config, publicUrl }: ServerParts,
  features: readonly Feature[],
  basePath: string,
  stripped: boolean,
): void {
  const problems = [
    ...basePathProblems(basePath).map((message) => ({ key: 'base_path', message })),
    ...strippedProblems(basePath, stripped).map((message) => ({
      key: 'base_path_stripped',
      message,
    })),
    ...featureProblems(features, config, publicUrl),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}
