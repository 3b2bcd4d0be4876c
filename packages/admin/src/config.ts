/** The key of `oauth_server` that the administrator's pages add. */
export interface AdministrationConfig {
  /**
   * The permission that a person needs for the administrator's pages, below `/oauth/admin`. Without
   * it these pages do not exist.
   */
  readonly admin_permission?: string | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends AdministrationConfig {}
  interface OAuthServerConfigInput extends AdministrationConfig {}
}
