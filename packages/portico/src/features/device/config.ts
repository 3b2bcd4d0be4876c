import { trueOrFalse } from '../../config.ts';

export const deviceShape = {
  device_authorization: trueOrFalse.optional(),
};

export interface DeviceConfig {
  /**
   * Whether clients on devices without a browser can request access (RFC 8628). The device shows a
   * code, and the user types it on a page at `/oauth/device`. Needs `npx portico db:migrate up`.
   * Default: false.
   */
  readonly device_authorization?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends DeviceConfig {}
  interface OAuthServerConfigInput extends DeviceConfig {}
}
