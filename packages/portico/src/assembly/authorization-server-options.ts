import type { Database } from '@portico/sql';
import type { Telemetry } from '../measuring.ts';
import type { OAuthServerConfig } from '../config.ts';
import type { Feature } from '../feature.ts';
import type { Host } from '../host/host.ts';
import type { KeySigner } from '../keys/signers.ts';
import type { OutboundOptions } from '../http/outbound/guarded-request.ts';

/** The options of `createAuthorizationServer`. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The public origin, as in `public_url`. The issuer is this origin plus `basePath`. */
  readonly publicUrl: string;
  /**
   * The path prefix of all endpoints, for example `/auth`. It is part of the issuer. Default:
   * empty.
   */
  readonly basePath?: string;
  /** Set it to true if a proxy removes `basePath` from the path of each request. Default: false. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, as validated by `oauthServerConfiguration`. */
  readonly config: OAuthServerConfig;
  /** Connects the server to your application's users and their browsers. */
  readonly host: Host<Context>;
  /**
   * Your own features, in addition to Portico's (docs/extending.md). Validate `config` with
   * `configurationWith(features)`.
   *
   * @example
   * createAuthorizationServer({ publicUrl, config, host, database, features: [maintenance] });
   */
  readonly features?: readonly Feature[];
  /**
   * The database for the server's data. Create its tables with `oauthServerMigrations`. If features
   * with their own tables are on, use `migrationsWith(config)` instead.
   */
  readonly database: Database;
  /**
   * Returns the time in milliseconds since 1970. Tests can pass another clock. Default: the system
   * clock.
   */
  readonly clock?: () => number;
  /**
   * Set it to true in development. Error pages then show details that otherwise appear only in the
   * log. If `publicUrl` is also a loopback address, the server may fetch client metadata documents,
   * keys and logos from loopback addresses. Default: false.
   */
  readonly showsDetails?: boolean;
  /**
   * The settings for requests to other servers, for example for client documents, keys and logos.
   * Default: the system's settings.
   */
  readonly outbound?: OutboundOptions;
  /**
   * Measures the server, for example `opentelemetry()` from `portico/telemetry`. Default: nothing
   * is measured.
   */
  readonly telemetry?: Telemetry;
  /**
   * The absolute path of a folder with your own page texts: one file `<tag>.json` per language. The
   * files replace Portico's texts or add languages (docs/pages.md). Default: no folder.
   */
  readonly messages?: string;
  /**
   * Signing keys that are not stored in files. All processes of a server must have the same keys.
   * Default: none.
   */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a random number from 0 to less than 1. While an attacker guesses client secrets, it
   * decides which attempts are allowed. Default: the system's random source.
   */
  readonly random?: () => number;
}
