import { z } from 'zod';

/** The key of `oauth_server` that challenges add. */
export const challengesShape = {
  challenge: z.boolean({ error: 'must be true or false' }).default(false),
};

export interface ChallengesConfig {
  /**
   * Whether a refusal of `token()` says how to get a token: `resource_metadata` (RFC 9728) and
   * `scope` in `WWW-Authenticate`. It needs `oauth_server:audience`, whose metadata are then
   * published. A new authorization also contains what the person allowed this client before; false.
   */
  readonly challenge?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ChallengesConfig {}
  interface OAuthServerConfigInput extends ChallengesConfig {}
}
