import { trueOrFalse } from '../../config.ts';

export const rememberConsentShape = {
  remember_consent: trueOrFalse.optional(),
};

export interface RememberConsentConfig {
  /**
   * Whether Portico skips the consent page for a first-party client
   * (`oauth:client:create --first-party`) if the user has already allowed it the same access. Needs
   * `npx portico db:migrate up`. Default: false.
   */
  readonly remember_consent?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RememberConsentConfig {}
  interface OAuthServerConfigInput extends RememberConsentConfig {}
}
