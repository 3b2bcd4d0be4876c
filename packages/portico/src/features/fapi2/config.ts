import { z } from 'zod';

/** The key of `oauth_server` that the profile adds. */
export const fapi2Shape = {
  profile: z.literal('fapi2', { error: 'must be fapi2, or left out' }).optional(),
};

export interface Fapi2Config {
  /**
   * `fapi2` holds every client to the FAPI 2.0 Security Profile, and switches on what the profile
   * demands. Without it, you can hold single clients to the profile
   * (`oauth:client:create --profile fapi2`); none.
   */
  readonly profile?: 'fapi2' | undefined;
}

/** Whether or not a feature signs with them. */
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
