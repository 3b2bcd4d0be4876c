import type { Database } from '@portico/sql';
import type { Telemetry } from './contracts/telemetry.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Feature } from './feature.ts';
import type { Host } from './host.ts';
import type { KeySigner } from './keys/signers.ts';
import type { OutboundOptions } from './outbound/fetch-json.ts';

/** What a server is made of. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The public origin of the application, `public_url`; with `basePath` it is the issuer. */
  readonly publicUrl: string;
  /** What stands before the path of every endpoint, such as `/auth`; empty unless given. It is part of the issuer. */
  readonly basePath?: string;
  /** Whether a proxy takes `basePath` away before a request arrives; false unless given. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, as `oauthServerConfiguration` validates it. */
  readonly config: OAuthServerConfig;
  /** The application that the server asks about people and browsers. */
  readonly host: Host<Context>;
  /**
   * Features of the application's own, beside those of Portico (docs/extending.md). `config` is validated by `configurationWith(features)`.
   *
   * @example
   * createAuthorizationServer({ publicUrl, config, host, database, features: [maintenance] });
   */
  readonly features?: readonly Feature[];
  /** Where the server keeps what it issues; its schema is `oauthServerMigrations`. */
  readonly database: Database;
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /**
   * Whether this is development: the error page shows details that are meant for the log, and where `publicUrl` is on loopback, the
   * documents of clients may be, too. False unless given.
   */
  readonly showsDetails?: boolean;
  /** How documents of clients are fetched; as the system does unless given. */
  readonly outbound?: OutboundOptions;
  /** Measures what the server does: `opentelemetry()` of `portico/telemetry`. Nothing is measured unless given. */
  readonly telemetry?: Telemetry;
  /**
   * The folder of messages of the application's own, `<tag>.json`, which change the words of the pages or add a language (docs/pages.md); absolute,
   * none unless given.
   */
  readonly messages?: string;
  /** Signing keys that are no files; none unless given. Those of a server's processes are the same. */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a number from 0 up to, and not including, 1. It decides which attempts go ahead while an attacker guesses
   * client secrets. Default: the system's random source.
   */
  readonly random?: () => number;
}
