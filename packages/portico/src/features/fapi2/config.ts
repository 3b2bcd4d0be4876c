import { z } from 'zod';

export const fapi2Shape = {
  profile: z
    .literal('fapi2', { error: 'must be "fapi2". To use no profile, remove the setting' })
    .optional(),
};

export interface Fapi2Config {
  /**
   * `fapi2` applies the FAPI 2.0 Security Profile to every client, and turns on the features that
   * the profile requires. To apply the profile only to certain clients, omit this setting and use
   * `oauth:client:create --profile fapi2`. Default: none.
   */
  readonly profile?: 'fapi2' | undefined;
}

/**
 * Adds the profile's ID token algorithms to the TypeScript types, even if no feature signs with
 * them.
 */
declare module '../../store/client.ts' {
  interface SigningAlgorithmNames {
    ES256: true;
    EdDSA: true;
  }
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends Fapi2Config {}
  interface OAuthServerConfigInput extends Fapi2Config {}
}
