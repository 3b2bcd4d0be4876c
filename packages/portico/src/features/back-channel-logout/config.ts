import { trueOrFalse } from '../../config.ts';

export const backChannelLogoutShape = {
  back_channel_logout: trueOrFalse.optional(),
};

export interface BackChannelLogoutConfig {
  /**
   * Whether the server notifies clients when a user signs out (OpenID Connect Back-Channel Logout
   * 1.0). ID tokens then contain the claim `sid`. Needs `sessionId` in the host, and
   * `npx portico db:migrate up`. Default: false.
   */
  readonly back_channel_logout?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends BackChannelLogoutConfig {}
  interface OAuthServerConfigInput extends BackChannelLogoutConfig {}
}
