import { trueOrFalse } from '../../config.ts';

export const formPostShape = {
  form_post: trueOrFalse.optional(),
};

export interface FormPostConfig {
  /**
   * Whether clients can request `response_mode=form_post` (OAuth 2.0 Form Post Response Mode). The
   * browser then posts the response to the redirect URI, so that the response does not appear in a
   * URL. Default: false.
   */
  readonly form_post?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends FormPostConfig {}
  interface OAuthServerConfigInput extends FormPostConfig {}
}
