import { defineFeature } from '../../feature.ts';
import { refreshRetryShape } from './config.ts';
import { RefreshRetries } from './retries.ts';

/**
 * Repeats the response if a client uses a refresh token again within `refresh_retry_seconds`. The
 * first response may not have reached the client.
 */
export const refreshRetry = defineFeature({
  name: 'refresh_retry',
  config: refreshRetryShape,
  start(server, { refresh_retry_seconds: seconds = 0 }) {
    if (seconds === 0) return {};
    return {
      secondUses: (rules, binding) => new RefreshRetries(server, seconds * 1000, rules, binding),
    };
  },
});
