import type { Accounts } from './accounts.ts';
import type { Audit } from './audit.ts';
import type { CookieSealer } from './authorization/cookie-keys.ts';
import type { Claims } from './claims.ts';
import type { Clients } from './clients/clients.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Host } from './host.ts';
import type { KeyRing } from './keys.ts';
import type { Pruning } from './pruning.ts';
import type { ScopeCatalog } from './scopes.ts';
import type { Store } from './store/store.ts';

/** What the endpoints and grants work with; made once by `createAuthorizationServer`. */
export interface ServerContext {
  /** The issuer: `public_url`, and nothing else. */
  readonly issuer: string;
  readonly config: OAuthServerConfig;
  readonly host: Host;
  readonly accounts: Accounts;
  readonly store: Store;
  readonly clients: Clients;
  readonly audit: Audit;
  readonly scopes: ScopeCatalog;
  readonly claims: Claims;
  readonly keys: KeyRing;
  readonly pruning: Pruning;
  readonly cookieSealer: CookieSealer;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** The target that tokens of this server carry: `oauth_server:audience`, or null when it is empty. */
  readonly audience: string | null;
}
