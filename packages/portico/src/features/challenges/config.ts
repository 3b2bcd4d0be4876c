import { trueOrFalse } from '../../config.ts';

/** The setting that this feature adds to `oauth_server`. */
export const challengesShape = {
  challenge: trueOrFalse.default(false),
};

export interface ChallengesConfig {
  /**
   * Whether a refusal by `token()` tells the client how to get a token. If true, the
   * `WWW-Authenticate` header contains `resource_metadata` (RFC 9728) and `scope`. A new
   * authorization then also includes the scopes that the user has allowed this client before. Needs
   * `oauth_server:audience`. Portico then publishes the metadata of this API. Default: false.
   */
  readonly challenge?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ChallengesConfig {}
  interface OAuthServerConfigInput extends ChallengesConfig {}
}
