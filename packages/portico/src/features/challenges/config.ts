import { trueOrFalse } from '../../config.ts';

export const challengesShape = {
  challenge: trueOrFalse.default(false),
};

export interface ChallengesConfig {
  /**
   * Whether the response tells the client how to get a token when `token()` refuses a request. If
   * true, the `WWW-Authenticate` header contains `resource_metadata` (RFC 9728) and `scope`. A new
   * authorization then also includes the scopes that the user has already allowed this client.
   * Needs `oauth_server:audience`. Portico then publishes the metadata of this API. Default: false.
   */
  readonly challenge?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ChallengesConfig {}
  interface OAuthServerConfigInput extends ChallengesConfig {}
}
