/** The setting that the administrator's pages add to `oauth_server`. */
export interface AdministrationConfig {
  /**
   * The permission that a person needs for the administrator's pages below `/oauth/admin`. If it is
   * not set, these pages do not exist.
   */
  readonly admin_permission?: string | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends AdministrationConfig {}
  interface OAuthServerConfigInput extends AdministrationConfig {}
}
