import { z } from 'zod';

export const pushedShape = {
  pushed_authorization_requests: z
    .enum(['off', 'accept', 'require'], { error: 'must be "off", "accept" or "require"' })
    .optional(),
};

export interface PushedConfig {
  /**
   * Whether clients can push authorization requests to the server (RFC 9126). `off`: they cannot.
   * `accept`: they can. `require`: they must. Default: `off`.
   */
  readonly pushed_authorization_requests?: 'off' | 'accept' | 'require' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends PushedConfig {}
  interface OAuthServerConfigInput extends PushedConfig {}
}
