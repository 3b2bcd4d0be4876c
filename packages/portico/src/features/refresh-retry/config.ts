import { z } from 'zod';

/** In seconds. */
const LONGEST_RETRY = 300;

/** The key of `oauth_server` that this feature adds. */
export const refreshRetryShape = {
  refresh_retry_seconds: z
    .int({ error: 'must be a whole number of seconds' })
    .min(0, 'must be at least 0 seconds, which allows no second use')
    .max(LONGEST_RETRY, `must be at most ${LONGEST_RETRY} seconds`)
    .default(0),
};

export interface RefreshRetryConfig {
  /**
   * For how many seconds a refresh token that is used again gets the same answer as before, unless
   * its successor was used. At most 300; 0, which makes every second use a replay.
   */
  readonly refresh_retry_seconds?: number | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RefreshRetryConfig {}
  interface OAuthServerConfigInput extends RefreshRetryConfig {}
}
