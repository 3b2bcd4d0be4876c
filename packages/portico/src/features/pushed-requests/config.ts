import { z } from 'zod';

/** The setting that this feature adds to `oauth_server`. */
export const pushedShape = {
  pushed_authorization_requests: z
    .enum(['off', 'accept', 'require'], { error: 'must be "off", "accept" or "require"' })
    .optional(),
};

export interface PushedConfig {
  /**
   * Whether clients can push their authorization requests (RFC 9126). With `accept`, clients may
   * push them. With `require`, clients must push them. Default: `off`.
   */
  readonly pushed_authorization_requests?: 'off' | 'accept' | 'require' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends PushedConfig {}
  interface OAuthServerConfigInput extends PushedConfig {}
}
