/** The key of `oauth_server` that importing adds. */
export interface ImportingConfig {
  /**
   * How many iterations of PBKDF2-HMAC-SHA256 the hash of an imported client secret may have
   * (`oauth:client:import`). Every secret that this process has not seen yet costs as many, so that
   * the time tells nothing; 0, which refuses such hashes.
   */
  readonly imported_pbkdf2_iterations?: number | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends ImportingConfig {}
  interface OAuthServerConfigInput extends ImportingConfig {}
}
