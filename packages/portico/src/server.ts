import type { Database, MigrationState } from '@portico/sql';
import type { Speaking } from './pages/speaking.ts';
import type { Accounts } from './host/accounts.ts';
import type { TrustedIssuers } from './keys/assertions/trusted-issuers.ts';
import type { Branding } from './pages/branding.ts';
import type { BrowserPaths } from './paths.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { ClientDemand } from './store/client-demands.ts';
import type { GrantTypes } from './store/grant-types.ts';
import type { OAuthServerConfig } from './config.ts';
import type { CompleteHost } from './host/host.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Measuring } from './measuring.ts';
import type { GuardedOptions } from './http/outbound/guarded-request.ts';
import type { FurtherMetadata } from './store/further-metadata.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Profiles } from './profiles.ts';
import type { Pruning } from './store/pruning.ts';
import type { SingleUses } from './store/single-uses.ts';
import type { FeatureRecords, Store } from './store/store.ts';
import type { GivenAccess } from './store/given-access.ts';
import type { Resources } from './tokens/resource-indicators.ts';
import type { ScopeCatalog, ScopeHeading } from './tokens/scopes.ts';

/** How far the clocks of two processes may differ, in milliseconds. */
export const CLOCKS_DIFFER = 60_000;

/** The objects and settings that all code of one server shares. */
export interface Server {
  /** The issuer (RFC 8414 section 2). */
  readonly issuer: string;
  /** The issuer's origin. */
  readonly origin: string;
  /** The `base_path`: empty, or a path like `/auth`. */
  readonly basePath: string;
  /** The path prefix of incoming requests: `basePath`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The section `oauth_server`, with the settings of the server's profile. */
  readonly config: OAuthServerConfig;
  /** The application that the server runs in. */
  readonly host: CompleteHost;
  /** The database. */
  readonly database: Database;
  /** Returns every migration of the application, with its state. */
  readonly migrations: () => Promise<readonly MigrationState[]>;
  /** Reads and writes the server's records in the database. */
  readonly store: Store & FeatureRecords;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number from 0 up to, but not including, 1. */
  readonly random: () => number;
  /** The API for tokens if a request names none. Null if no API is configured. */
  readonly audience: string | null;
  /** All resources that tokens can be issued for. */
  readonly resources: Resources;
  /** The scopes that the server offers. */
  readonly scopes: ScopeCatalog;
  /** The headings for lists of scopes, in order. */
  readonly scopeHeadings: readonly ScopeHeading[];
  /** The host's accounts. */
  readonly accounts: Accounts;
  /** The signing keys. */
  readonly keys: KeyRing;
  /** How an application can become a client without an operator. Features provide these ways. */
  readonly arrivals: readonly ClientArrival[];
  /** True if an application can become a client without an operator. */
  readonly admitsUnverified: boolean;
  /** Returns true if clients can have their own keys. Call it after every feature has started. */
  readonly takesKeys: () => boolean;
  /**
   * Returns the `client_assertion_type` of each kind of workload token. Call it after every feature
   * has started.
   */
  readonly workloadTypes: () => readonly string[];
  /** Returns the grant types that the server offers. Call it after every feature has started. */
  readonly grantTypes: () => GrantTypes;
  /** The requirements that can be part of a client's registration. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles for clients. */
  readonly profiles: Profiles;
  /** Receives audit events. */
  readonly audit: ServerAudit;
  /** Removes expired rows. */
  readonly pruning: Pruning;
  /** Records the use of values that can be used only once, across all processes. */
  readonly singleUses: SingleUses;
  /** Fields that features add to the metadata of clients. */
  readonly furtherMetadata: FurtherMetadata;
  /** Delivers messages to other systems, at least once. */
  readonly outbox: Outbox;
  /** Verifies assertions of the issuers that the server trusts. */
  readonly trustedIssuers: TrustedIssuers;
  /**
   * Returns the feature that checks and ends access from organizations, or null. Call it after
   * every feature has started.
   */
  readonly givenAccess: () => GivenAccess | null;
  /** Encrypts data that browsers and clients store on behalf of the server. */
  readonly sealer: Sealer;
  /** How the server sends requests to URLs of clients and of trusted issuers. */
  readonly fetching: GuardedOptions;
  /** The paths of the pages for users. */
  readonly paths: BrowserPaths;
  /** The branding of the pages. Null means Portico's own design. */
  readonly branding: Branding | null;
  /** The languages and texts of the pages. */
  readonly speaking: Speaking;
  /** Receives measurements. Null if the option `telemetry` is not set. */
  readonly measuring: Measuring | null;
}

/** A way to become a client without an operator. */
export interface ClientArrival {
  /** One sentence for the doctor's report. */
  readonly says: string;
  /** A short text for the list of ways to register, in the admin interface. */
  readonly as: string;
  /** Missing if clients cannot register with initial access tokens. */
  readonly tokens?: ArrivalTokens;
}

/** RFC 7591 section 1.2. */
export interface ArrivalTokens {
  /** Who can register applications, and what the tokens are for. */
  readonly says: string;
  /** The command that creates a token. Null unless every client needs one to register. */
  readonly command: string | null;
}

/** Encrypts content with a key that all processes share. */
export interface Sealer {
  seal(name: string, content: string): Promise<string>;
  /**
   * Returns null for any string that was not encrypted under this name, or if the key was removed.
   */
  open(name: string, sealed: string): Promise<string | null>;
  /**
   * Returns true if the content was encrypted with the current key. Any other key will soon be
   * removed.
   */
  isCurrent(sealed: string): boolean;
}
