import { z } from 'zod';

const LONGEST_RETRY = 300;

export const refreshRetryShape = {
  refresh_retry_seconds: z
    .int({ error: 'must be a whole number of seconds' })
    .min(0, 'must be at least 0 seconds; 0 allows no second use')
    .max(LONGEST_RETRY, `must be at most ${LONGEST_RETRY} seconds`)
    .default(0),
};

export interface RefreshRetryConfig {
  /**
   * How long a client can use an old refresh token again and get the same response, in seconds. The
   * maximum is 300. The time ends early when the client uses the new refresh token. With 0, every
   * second use of a refresh token is a replay. Default: 0.
   */
  readonly refresh_retry_seconds?: number | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RefreshRetryConfig {}
  interface OAuthServerConfigInput extends RefreshRetryConfig {}
}
