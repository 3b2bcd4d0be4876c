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

/** What the parts and features of one server share. */
export interface Server {
  /** The issuer (RFC 8414 section 2). */
  readonly issuer: string;
  /** The issuer's origin. */
  readonly origin: string;
  /** `base_path`: empty, or a path such as `/auth`. */
  readonly basePath: string;
  /** The path prefix of incoming requests: `basePath`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The section `oauth_server`, with the settings that its profile requires. */
  readonly config: OAuthServerConfig;
  /** The application that the server runs in. */
  readonly host: CompleteHost;
  /** The database. */
  readonly database: Database;
  /** Returns every step of the application's schema. */
  readonly migrations: () => Promise<readonly MigrationState[]>;
  /** Reads and writes records in the database, by kind. */
  readonly store: Store;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number from 0 up to, but not including, 1. */
  readonly random: () => number;
  /** The API that tokens are for if a request names none. Null if no API is configured. */
  readonly audience: string | null;
  /** All resources that tokens can be for. */
  readonly resources: Resources;
  /** The scopes that the server offers. */
  readonly scopes: ScopeCatalog;
  /** The headings in lists of scopes, in order. */
  readonly scopeHeadings: readonly ScopeHeading[];
  /** The host's accounts. */
  readonly accounts: Accounts;
  /** The signing keys. */
  readonly keys: KeyRing;
  /** How applications can become clients without an operator. Features provide these ways. */
  readonly arrivals: readonly ClientArrival[];
  /** Whether an application can become a client without an operator. */
  readonly admitsUnverified: boolean;
  /** Whether clients can have their own keys. Call it after every feature has started. */
  readonly takesKeys: () => boolean;
  /** Returns the grant types that the server offers. Call it after every feature has started. */
  readonly grantTypes: () => GrantTypes;
  /** The requirements that clients can be registered with. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles for clients. */
  readonly profiles: Profiles;
  /** Receives audit events. */
  readonly audit: ServerAudit;
  /** Removes expired rows. */
  readonly pruning: Pruning;
  /** Tracks single-use values across all processes. */
  readonly singleUses: SingleUses;
  /** Fields of clients' metadata that features add. */
  readonly furtherMetadata: FurtherMetadata;
  /** Delivers messages to other systems, at least once. */
  readonly outbox: Outbox;
  /** Verifies assertions of the issuers that the server trusts. */
  readonly trustedIssuers: TrustedIssuers;
  /**
   * Confirms and ends access that organizations gave. Null if no feature provides it. Call it after
   * every feature has started.
   */
  readonly givenAccess: () => GivenAccess | null;
  /** Encrypts state that browsers and clients store for the server. */
  readonly sealer: Sealer;
  /** How the server fetches client documents. */
  readonly fetching: GuardedOptions;
  /** The paths of the pages for people. */
  readonly paths: BrowserPaths;
  /** How the pages look. Null for Portico's own design. */
  readonly branding: Branding | null;
  /** The languages and texts of the pages. */
  readonly speaking: Speaking;
  /** Receives measurements. Null if nothing is measured. */
  readonly measuring: Measuring | null;
}

/** One way in which applications can become clients without an operator. */
export interface ClientArrival {
  /** The text for the doctor's report, as a sentence. */
  readonly says: string;
  /** The text that follows "Applications come". */
  readonly as: string;
  /** The initial access tokens that it accepts. Default: none. */
  readonly tokens?: ArrivalTokens;
}

/** Initial access tokens (RFC 7591 section 1.2). */
export interface ArrivalTokens {
  /** What the tokens are for. */
  readonly says: string;
  /** The command that creates a token, if every client needs one. Otherwise null. */
  readonly command: string | null;
}

/** Encrypts with a key that all processes in the installation share. */
export interface Sealer {
  seal(name: string, content: string): Promise<string>;
  /**
   * Returns the content that was encrypted under this name. Returns null for any other text, and if
   * the key is gone.
   */
  open(name: string, sealed: string): Promise<string | null>;
  /** Whether the content was encrypted with the current key. The previous key is removed soon. */
  isCurrent(sealed: string): boolean;
}
