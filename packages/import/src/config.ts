/** The setting in `oauth_server` for imported client secrets. */
export interface ImportingConfig {
  /**
   * The maximum number of PBKDF2-HMAC-SHA256 iterations that the hash of an imported client secret
   * may need (`oauth:client:import`). Each check of a secret that this process has not verified
   * before does this many iterations, so that the duration of the check reveals nothing about the
   * client. Default: 0, which means that such hashes are rejected.
   */
  readonly imported_pbkdf2_iterations?: number | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends ImportingConfig {}
  interface OAuthServerConfigInput extends ImportingConfig {}
}
