/** The setting in `oauth_server` for imported client secrets. */
export interface ImportingConfig {
  /**
   * The maximum number of PBKDF2-HMAC-SHA256 iterations for the hash of an imported client secret
   * (`oauth:client:import`). Whenever a process checks a secret that it has not verified before, it
   * computes this many iterations. The duration of the check then reveals nothing about the client.
   * With 0, such hashes are rejected. Default: 0.
   */
  readonly imported_pbkdf2_iterations?: number | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends ImportingConfig {}
  interface OAuthServerConfigInput extends ImportingConfig {}
}
