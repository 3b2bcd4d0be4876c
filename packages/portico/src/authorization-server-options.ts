import type { Database } from '@portico/sql';
import type { Telemetry } from './contracts/telemetry.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Feature } from './feature.ts';
import type { Host } from './host.ts';
import type { KeySigner } from './keys/signers.ts';
import type { OutboundOptions } from './outbound/fetch-json.ts';

/** The options of a server. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The public origin of the application, `public_url`; with `basePath` it is the issuer. */
  readonly publicUrl: string;
  /**
   * The prefix of every endpoint's path, such as `/auth`; empty unless given. It is part of the
   * issuer.
   */
  readonly basePath?: string;
  /** Whether a proxy removes `basePath` before a request arrives; false unless given. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, as `oauthServerConfiguration` validates it. */
  readonly config: OAuthServerConfig;
  /** The application that the server asks about people and browsers. */
  readonly host: Host<Context>;
  /**
   * Features of the application's own, beside those of Portico (docs/extending.md). `config` is
   * validated by `configurationWith(features)`.
   *
   * @example
   * createAuthorizationServer({ publicUrl, config, host, database, features: [maintenance] });
   */
  readonly features?: readonly Feature[];
  /** Where the server stores what it issues; its schema is `oauthServerMigrations`. */
  readonly database: Database;
  /** Milliseconds since 1970; the system's clock unless a test passes one. */
  readonly clock?: () => number;
  /**
   * Whether this is development. The error page then shows details that are otherwise only in the
   * log. If `publicUrl` is on loopback, documents of clients may be too. False unless given.
   */
  readonly showsDetails?: boolean;
  /** How documents of clients are fetched; with the system's defaults unless given. */
  readonly outbound?: OutboundOptions;
  /**
   * Measures what the server does: `opentelemetry()` of `portico/telemetry`. Nothing is measured
   * unless given.
   */
  readonly telemetry?: Telemetry;
  /**
   * The folder of the application's own messages, `<tag>.json`, which change the texts of the pages
   * or add a language (docs/pages.md); absolute, none unless given.
   */
  readonly messages?: string;
  /**
   * Signing keys that are not files; none unless given. All processes of a server must have the
   * same.
   */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a number from 0 up to, and not including, 1. It decides which attempts are allowed
   * while an attacker guesses client secrets. Default: the system's random source.
   */
  readonly random?: () => number;
}
