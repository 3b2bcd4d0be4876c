import type { Database } from '@portico/sql';
import type { Telemetry } from '../measuring.ts';
import type { OAuthServerConfig } from '../config.ts';
import type { Feature } from '../feature.ts';
import type { Host } from '../host/host.ts';
import type { KeySigner } from '../keys/signers.ts';
import type { OutboundOptions } from '../http/outbound/guarded-request.ts';

/** The options for creating a server. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The application's public origin, `public_url`. The issuer is this origin plus `basePath`. */
  readonly publicUrl: string;
  /**
   * The prefix of every endpoint's path, for example `/auth`. It is part of the issuer. Default:
   * empty.
   */
  readonly basePath?: string;
  /** Whether a proxy removes `basePath` before a request arrives. Default: false. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, validated by `oauthServerConfiguration`. */
  readonly config: OAuthServerConfig;
  /** Your application. The server asks it about users and their browsers. */
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
   * The database that stores the server's data. Create its schema with `oauthServerMigrations`. If
   * the configuration turns on features with their own tables, use `migrationsWith(config)`
   * instead.
   */
  readonly database: Database;
  /**
   * Returns the time in milliseconds since 1970. Tests can pass their own clock. Default: the
   * system's clock.
   */
  readonly clock?: () => number;
  /**
   * Whether this is a development environment. If true, error pages show details that otherwise
   * appear only in the log. If `publicUrl` is also a loopback address, client metadata documents
   * may be on loopback too. Default: false.
   */
  readonly showsDetails?: boolean;
  /** Settings for fetching client documents. Defaults to the system's settings. */
  readonly outbound?: OutboundOptions;
  /**
   * Measures the server, for example with `opentelemetry()` from `portico/telemetry`. By default,
   * the server measures nothing.
   */
  readonly telemetry?: Telemetry;
  /**
   * The absolute path of a folder with your own messages: one file `<tag>.json` per language. The
   * files replace texts on the pages or add a language (docs/pages.md). Default: no folder.
   */
  readonly messages?: string;
  /**
   * Signing keys that are not stored in files. Every process of a server must have the same keys.
   * Default: none.
   */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a random number from 0 up to, but not including, 1. While an attacker guesses client
   * secrets, the server uses the number to choose which attempts are allowed. Default: the system's
   * random source.
   */
  readonly random?: () => number;
}
