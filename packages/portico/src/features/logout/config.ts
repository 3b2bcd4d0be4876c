import { trueOrFalse } from '../../config.ts';

export const logoutShape = {
  logout: trueOrFalse.optional(),
};

export interface LogoutConfig {
  /**
   * Whether clients can send users to this server to sign out (OpenID Connect RP-Initiated Logout
   * 1.0). The host must provide `signOut`. Needs `npx portico db:migrate up`. Default: false.
   */
  readonly logout?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends LogoutConfig {}
  interface OAuthServerConfigInput extends LogoutConfig {}
}
