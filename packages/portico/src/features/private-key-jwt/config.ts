import { trueOrFalse } from '../../config.ts';

export const privateKeyJwtShape = {
  private_key_jwt: trueOrFalse.optional(),
};

export interface PrivateKeyJwtConfig {
  /**
   * Whether clients can authenticate with signed assertions (`private_key_jwt`, RFC 7523). A client
   * can use this method only if its registration or document names it. Default: false.
   */
  readonly private_key_jwt?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends PrivateKeyJwtConfig {}
  interface OAuthServerConfigInput extends PrivateKeyJwtConfig {}
}
