import type { Database } from '@portico/sql';
import type { Telemetry } from './measuring.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Feature } from './feature.ts';
import type { Host } from './host.ts';
import type { KeySigner } from './keys/signers.ts';
import type { OutboundOptions } from './http/outbound/guarded-request.ts';

/** The options for creating a server. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The application's public origin, `public_url`. Followed by `basePath`, it is the issuer. */
  readonly publicUrl: string;
  /**
   * The prefix of every endpoint's path, such as `/auth`. It is a part of the issuer. Default:
   * empty.
   */
  readonly basePath?: string;
  /** Whether a proxy removes `basePath` before a request arrives. Default: false. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, validated by `oauthServerConfiguration`. */
  readonly config: OAuthServerConfig;
  /** Your application. The server calls it for information about people and browsers. */
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
   * The database where the server stores its data. `oauthServerMigrations` creates the schema. If
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
   * Whether this is development. If true, error pages show details that are otherwise only in the
   * log. If `publicUrl` is also a loopback address, client documents may be on loopback too.
   * Default: false.
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
   * The absolute path of a folder with your own messages: one file `<tag>.json` for each language.
   * They replace texts on the pages or add a language (docs/pages.md). Default: no folder.
   */
  readonly messages?: string;
  /**
   * Signing keys that are not files. All processes of a server must have the same keys. Default:
   * none.
   */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a number that is at least 0 and less than 1. It decides which attempts are allowed
   * while an attacker guesses client secrets. Default: the system's random source.
   */
  readonly random?: () => number;
}
