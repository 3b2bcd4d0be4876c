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
   * For how many seconds after its use a refresh token that is offered again is given the same answer, unless its successor was used;
   * 300 at most; 0, which makes every second use a replay.
   */
  readonly refresh_retry_seconds?: number | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RefreshRetryConfig {}
  interface OAuthServerConfigInput extends RefreshRetryConfig {}
}
