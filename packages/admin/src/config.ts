/** The settings for the administrator's pages in the section `oauth_server`. */
export interface AdministrationConfig {
  /**
   * The permission that a user needs for the administrator's pages below `/oauth/admin`. Without
   * this setting, these pages do not exist.
   */
  readonly admin_permission?: string | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends AdministrationConfig {}
  interface OAuthServerConfigInput extends AdministrationConfig {}
}
