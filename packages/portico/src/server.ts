import type { Database, MigrationState } from '@portico/sql';
import type { Speaking } from './words/speaking.ts';
import type { Accounts } from './accounts.ts';
import type { Branding } from './contracts/branding.ts';
import type { BrowserPaths } from './paths.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { ClientDemand } from './store/client-demands.ts';
import type { GrantTypes } from './store/grant-types.ts';
import type { OAuthServerConfig } from './config.ts';
import type { CompleteHost } from './host.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Measuring } from './measuring/measuring.ts';
import type { FetchJsonOptions } from './outbound/fetch-json.ts';
import type { Profiles } from './profiles.ts';
import type { Pruning } from './store/pruning.ts';
import type { SingleUses } from './store/single-uses.ts';
import type { Store } from './store/store.ts';
import type { ScopeCatalog, ScopeHeading } from './tokens/scopes.ts';

/** What the parts of one server share, and its features. */
export interface Server {
  /** The issuer (RFC 8414 section 2). */
  readonly issuer: string;
  /** The origin of the issuer. */
  readonly origin: string;
  /** `base_path`: empty, or such as `/auth`. */
  readonly basePath: string;
  /** The part of `basePath` that is left in a request as it arrives. */
  readonly mountPath: string;
  /** The section `oauth_server`, with the requirements of its profile. */
  readonly config: OAuthServerConfig;
  /** The application that it runs in. */
  readonly host: CompleteHost;
  /** The store. */
  readonly database: Database;
  /** Every step of the application's schema. */
  readonly migrations: () => Promise<readonly MigrationState[]>;
  /** The same, by kind of record. */
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to, and not including, 1. */
  readonly random: () => number;
  /** The API that tokens are for; null when none is configured. */
  readonly audience: string | null;
  /** The scopes that it offers. */
  readonly scopes: ScopeCatalog;
  /** The headings of lists of scopes, in their order. */
  readonly scopeHeadings: readonly ScopeHeading[];
  /** The accounts of the host. */
  readonly accounts: Accounts;
  /** The signing keys. */
  readonly keys: KeyRing;
  /** How clients come that no operator registers, by features. */
  readonly arrivals: readonly ClientArrival[];
  /** Whether a client can come without an operator. */
  readonly admitsUnverified: boolean;
  /** Whether clients can have keys of their own; known once every feature has started. */
  readonly takesKeys: () => boolean;
  /** The grant types that it offers; known once every feature has started. */
  readonly grantTypes: () => GrantTypes;
  /** What clients may require. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles for clients. */
  readonly profiles: Profiles;
  /** Receives audit events. */
  readonly audit: ServerAudit;
  /** Removes expired rows. */
  readonly pruning: Pruning;
  /** Values that may be used once, counted across all processes. */
  readonly singleUses: SingleUses;
  /** Encrypts state that browsers and clients carry for the server. */
  readonly sealer: Sealer;
  /** How documents of clients are fetched. */
  readonly fetching: FetchJsonOptions;
  /** The paths of its pages. */
  readonly paths: BrowserPaths;
  /** The look of its pages; null for Portico's own design. */
  readonly branding: Branding | null;
  /** The languages of the pages. */
  readonly speaking: Speaking;
  /** Receives measurements; null if nothing is measured. */
  readonly measuring: Measuring | null;
}

/** How clients come that no operator registered. */
export interface ClientArrival {
  /** As the doctor says it, in a sentence. */
  readonly says: string;
  /** Behind "Applications come". */
  readonly as: string;
  /** The initial access tokens that it takes; none unless given. */
  readonly tokens?: ArrivalTokens;
}

/** Initial access tokens (RFC 7591 section 1.2). */
export interface ArrivalTokens {
  /** What they are for. */
  readonly says: string;
  /** The command that makes one, if no client comes without a token; otherwise null. */
  readonly command: string | null;
}

/** Encrypts with a key that all processes of the installation have. */
export interface Sealer {
  seal(name: string, content: string): Promise<string>;
  /**
   * The content that was encrypted under this name; null for anything else, and if its key is gone.
   */
  open(name: string, sealed: string): Promise<string | null>;
  /** Whether it was encrypted with the current key: the previous one is dropped soon. */
  isCurrent(sealed: string): boolean;
}
