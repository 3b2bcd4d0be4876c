import type { Database } from '@portico/sql';
import type { Telemetry } from './measuring.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Feature } from './feature.ts';
import type { Host } from './host.ts';
import type { KeySigner } from './keys/signers.ts';
import type { OutboundOptions } from './http/outbound/guarded-request.ts';

/** The options for creating a server. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The application's public origin, `public_url`. Together with `basePath`, it is the issuer. */
  readonly publicUrl: string;
  /**
   * The prefix of every endpoint's path, such as `/auth`. It is part of the issuer. Default: empty.
   */
  readonly basePath?: string;
  /** Whether a proxy removes `basePath` before a request arrives. Default: false. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, validated by `oauthServerConfiguration`. */
  readonly config: OAuthServerConfig;
  /** Your application, which the server asks about people and browsers. */
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
   * The database in which the server stores what it issues. Its schema is `oauthServerMigrations`,
   * or `migrationsWith(config)` if the configuration switches on features with their own tables.
   */
  readonly database: Database;
  /**
   * Returns the time in milliseconds since 1970. Tests can pass their own clock. Default: the
   * system's clock.
   */
  readonly clock?: () => number;
  /**
   * Whether this is development. If true, the error page shows details that are otherwise only in
   * the log. If `publicUrl` is also on loopback, client documents may be on loopback too. Default:
   * false.
   */
  readonly showsDetails?: boolean;
  /** How Portico fetches client documents. Defaults to the system's settings. */
  readonly outbound?: OutboundOptions;
  /**
   * Measures what the server does, for example with `opentelemetry()` from `portico/telemetry`. By
   * default, the server measures nothing.
   */
  readonly telemetry?: Telemetry;
  /**
   * The absolute path of a folder with your own messages, one file `<tag>.json` for each language.
   * They change the texts on the pages or add a language (docs/pages.md). Default: no folder.
   */
  readonly messages?: string;
  /**
   * Signing keys that are not files. All processes of a server must have the same keys. Default:
   * none.
   */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a number from 0 up to, and not including, 1. It decides which attempts are allowed
   * while an attacker guesses client secrets. Default: the system's random source.
   */
  readonly random?: () => number;
}
