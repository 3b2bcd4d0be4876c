import { z } from 'zod';

/** The key of `oauth_server` that this feature adds. */
export const privateKeyJwtShape = {
  private_key_jwt: z.boolean({ error: 'must be true or false' }).optional(),
};

export interface PrivateKeyJwtConfig {
  /**
   * Whether clients may authenticate with assertions that they sign (`private_key_jwt`, RFC 7523),
   * as their registration or document says; false.
   */
  readonly private_key_jwt?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends PrivateKeyJwtConfig {}
  interface OAuthServerConfigInput extends PrivateKeyJwtConfig {}
}
