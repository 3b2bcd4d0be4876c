import type { Database, MigrationState } from '@portico/sql';
import type { Speaking } from './words/speaking.ts';
import type { Accounts } from './accounts.ts';
import type { TrustedIssuers } from './assertions/trusted-issuers.ts';
import type { Branding } from './branding.ts';
import type { BrowserPaths } from './paths.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { ClientDemand } from './store/client-demands.ts';
import type { GrantTypes } from './store/grant-types.ts';
import type { OAuthServerConfig } from './config.ts';
import type { CompleteHost } from './host.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Measuring } from './measuring.ts';
import type { GuardedOptions } from './http/outbound/guarded-request.ts';
import type { FurtherMetadata } from './further-metadata/further-metadata.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Profiles } from './profiles.ts';
import type { Pruning } from './store/pruning.ts';
import type { SingleUses } from './store/single-uses.ts';
import type { Store } from './store/store.ts';
import type { GivenAccess } from './store/given-access.ts';
import type { Resources } from './tokens/resource-indicators.ts';
import type { ScopeCatalog, ScopeHeading } from './tokens/scopes.ts';

/** The parts that one server and its features share. */
export interface Server {
  /** The issuer (RFC 8414 section 2). */
  readonly issuer: string;
  /** The issuer's origin. */
  readonly origin: string;
  /** `base_path`: empty, or a path such as `/auth`. */
  readonly basePath: string;
  /** The path prefix of incoming requests. This is `basePath`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The section `oauth_server`, with the settings that its profile requires. */
  readonly config: OAuthServerConfig;
  /** The application that the server runs in. */
  readonly host: CompleteHost;
  /** The database. */
  readonly database: Database;
  /** Returns every migration of the application, with its state. */
  readonly migrations: () => Promise<readonly MigrationState[]>;
  /** Reads and writes records in the database, by kind. */
  readonly store: Store;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number that is at least 0 and less than 1. */
  readonly random: () => number;
  /** The API that tokens are for if a request names no resource. Null if no API is configured. */
  readonly audience: string | null;
  /** All resources that tokens can be for. */
  readonly resources: Resources;
  /** The scopes that the server offers. */
  readonly scopes: ScopeCatalog;
  /** The headings for lists of scopes, in order. */
  readonly scopeHeadings: readonly ScopeHeading[];
  /** The host's accounts. */
  readonly accounts: Accounts;
  /** The signing keys. */
  readonly keys: KeyRing;
  /**
   * The ways in which applications can become clients without an operator. Features provide them.
   */
  readonly arrivals: readonly ClientArrival[];
  /** Whether applications can become clients without an operator. */
  readonly admitsUnverified: boolean;
  /** Returns whether clients can have their own keys. Call it after every feature has started. */
  readonly takesKeys: () => boolean;
  /**
   * Returns the `client_assertion_type` of each kind of workload token that the server accepts.
   * Call it after every feature has started.
   */
  readonly workloadTypes: () => readonly string[];
  /** Returns the grant types that the server offers. Call it after every feature has started. */
  readonly grantTypes: () => GrantTypes;
  /** The demands that clients can be registered with. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles for clients. */
  readonly profiles: Profiles;
  /** Receives audit events. */
  readonly audit: ServerAudit;
  /** Removes expired rows. */
  readonly pruning: Pruning;
  /** Tracks single-use values across all processes. */
  readonly singleUses: SingleUses;
  /** Fields that features add to the metadata of clients. */
  readonly furtherMetadata: FurtherMetadata;
  /** Delivers messages to other systems, at least once. */
  readonly outbox: Outbox;
  /** Verifies assertions of the issuers that the server trusts. */
  readonly trustedIssuers: TrustedIssuers;
  /**
   * Returns the feature that checks and ends access from organizations. Returns null if no feature
   * does this. Call it after every feature has started.
   */
  readonly givenAccess: () => GivenAccess | null;
  /** Encrypts state that browsers and clients store for the server. */
  readonly sealer: Sealer;
  /** How the server fetches client documents. */
  readonly fetching: GuardedOptions;
  /** The paths of the pages for people. */
  readonly paths: BrowserPaths;
  /** The branding of the pages. Null means Portico's own design. */
  readonly branding: Branding | null;
  /** The languages and texts of the pages. */
  readonly speaking: Speaking;
  /** Receives measurements. Null if the server measures nothing. */
  readonly measuring: Measuring | null;
}

/** A way in which applications can become clients without an operator. */
export interface ClientArrival {
  /** The text for the doctor's report, as a sentence. */
  readonly says: string;
  /** The text that follows "Applications come". */
  readonly as: string;
  /** The initial access tokens that clients can use in this way. By default, there are none. */
  readonly tokens?: ArrivalTokens;
}

/** Initial access tokens (RFC 7591 section 1.2). */
export interface ArrivalTokens {
  /** What the tokens are for, as a text. */
  readonly says: string;
  /** The command that creates a token, if every client needs a token. Otherwise null. */
  readonly command: string | null;
}

/** Encrypts with a key that all processes of the installation share. */
export interface Sealer {
  seal(name: string, content: string): Promise<string>;
  /**
   * Returns the content that was encrypted under this name. Returns null for any other text, and if
   * the key does not exist any more.
   */
  open(name: string, sealed: string): Promise<string | null>;
  /**
   * Whether the content was encrypted with the current key. The previous key will soon be removed.
   */
  isCurrent(sealed: string): boolean;
}
