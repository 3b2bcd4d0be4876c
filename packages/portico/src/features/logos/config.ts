import { trueOrFalse } from '../../config.ts';

export const logosShape = {
  client_logos: trueOrFalse.optional(),
};

export interface LogosConfig {
  /**
   * Whether operators can give clients a logo. Portico stores each logo, serves it at
   * `/oauth/logo`, and shows it to users, for example on the consent page and the applications
   * page. Default: false.
   */
  readonly client_logos?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends LogosConfig {}
  interface OAuthServerConfigInput extends LogosConfig {}
}
