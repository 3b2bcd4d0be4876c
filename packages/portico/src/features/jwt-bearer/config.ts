import { trueOrFalse } from '../../config.ts';

export const jwtBearerShape = {
  jwt_bearer_grant: trueOrFalse.optional(),
};

export interface JwtBearerConfig {
  /**
   * Whether clients can exchange an assertion about a user (ID-JAG) from a trusted issuer for an
   * access token, without a consent page. Needs `trusted_issuers` and `npx portico db:migrate up`.
   * Default: false.
   */
  readonly jwt_bearer_grant?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends JwtBearerConfig {}
  interface OAuthServerConfigInput extends JwtBearerConfig {}
}
