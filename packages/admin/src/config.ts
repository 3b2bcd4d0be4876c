/** The setting in `oauth_server` for the administrator's pages. */
export interface AdministrationConfig {
  /**
   * The permission that a user needs to use the administrator's pages below `/oauth/admin`. Without
   * this setting, these pages do not exist.
   */
  readonly admin_permission?: string | undefined;
}

declare module 'portico' {
  interface OAuthServerConfig extends AdministrationConfig {}
  interface OAuthServerConfigInput extends AdministrationConfig {}
}
