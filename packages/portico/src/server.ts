import type { Database } from '@portico/sql';
import type { Speaking } from './words/speaking.ts';
import type { Accounts } from './accounts.ts';
import type { Branding } from './defaults/branding/branding.ts';
import type { BrowserPaths } from './paths.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { ClientDemand } from './clients/demands.ts';
import type { OAuthServerConfig } from './config.ts';
import type { CompleteHost } from './host.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Measuring } from './measuring/measuring.ts';
import type { FetchJsonOptions } from './outbound/fetch-json.ts';
import type { Profiles } from './profiles/profiles.ts';
import type { Pruning } from './store/pruning.ts';
import type { SingleUses } from './store/single-uses.ts';
import type { Store } from './store/store.ts';
import type { ScopeCatalog } from './tokens/scopes.ts';

/** What the parts of one server share, and its features. */
export interface Server {
  /** The issuer (RFC 8414 section 2). */
  readonly issuer: string;
  /** The origin of the issuer. */
  readonly origin: string;
  /** `base_path`: empty, or such as `/auth`. */
  readonly basePath: string;
  /** What is left of `basePath` in a request that arrives. */
  readonly mountPath: string;
  /** The section `oauth_server`, with what its profile demands. */
  readonly config: OAuthServerConfig;
  /** The application that it runs in. */
  readonly host: CompleteHost;
  /** Where everything is kept. */
  readonly database: Database;
  /** The same, by what the server does with it. */
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to, and not including, 1. */
  readonly random: () => number;
  /** The API that tokens are for; null when none is configured. */
  readonly audience: string | null;
  /** The scopes that it offers. */
  readonly scopes: ScopeCatalog;
  /** The accounts of the host. */
  readonly accounts: Accounts;
  /** The signing keys. */
  readonly keys: KeyRing;
  /** What clients may demand. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles that clients are held to. */
  readonly profiles: Profiles;
  /** Takes audit events. */
  readonly audit: ServerAudit;
  /** Removes what has expired. */
  readonly pruning: Pruning;
  /** Values that may be used once, counted across all processes. */
  readonly singleUses: SingleUses;
  /** Encrypts state that browsers and clients carry for the server. */
  readonly sealer: Sealer;
  /** How documents of clients are fetched. */
  readonly fetching: FetchJsonOptions;
  /** Where its pages are. */
  readonly paths: BrowserPaths;
  /** How its pages look; null for Portico's own design. */
  readonly branding: Branding | null;
  /** The languages of the pages. */
  readonly speaking: Speaking;
  /** Takes what is measured; null where nothing is. */
  readonly measuring: Measuring | null;
}

/** Encrypts with a key that all processes of the installation have. */
export interface Sealer {
  seal(name: string, content: string): Promise<string>;
  /** What was sealed under this name; null for anything else, and when its key is gone. */
  open(name: string, sealed: string): Promise<string | null>;
  /** Whether it was sealed with the key that is used now: the one before is dropped soon. */
  isCurrent(sealed: string): boolean;
}
