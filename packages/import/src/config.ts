/** The setting that importing adds to `oauth_server`. */
export interface ImportingConfig {
  /**
   * The most PBKDF2-HMAC-SHA256 iterations for an imported client secret's hash
   * (`oauth:client:import`). Every secret that this process has not verified before takes this many
   * iterations, so that the time reveals nothing. Default: 0, which rejects such hashes.
   */
  readonly imported_pbkdf2_iterations?: number | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends ImportingConfig {}
  interface OAuthServerConfigInput extends ImportingConfig {}
}
