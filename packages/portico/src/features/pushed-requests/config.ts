import { z } from 'zod';

/** The key of `oauth_server` that pushed authorization requests add. */
export const pushedShape = {
  pushed_authorization_requests: z
    .enum(['off', 'accept', 'require'], { error: 'must be off, accept or require' })
    .optional(),
};

export interface PushedConfig {
  /**
   * Whether clients may push their authorization requests (RFC 9126), `accept`, or have to, `require`; or `off`, which it is.
   */
  readonly pushed_authorization_requests?: 'off' | 'accept' | 'require' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends PushedConfig {}
  interface OAuthServerConfigInput extends PushedConfig {}
}
