import { z } from 'zod';

/** The key of `oauth_server` that this feature adds. */
export const formPostShape = {
  form_post: z.boolean({ error: 'must be true or false' }).optional(),
};

export interface FormPostConfig {
  /**
   * Whether clients may ask for `response_mode=form_post`: the browser posts the answer to the
   * redirect URI, and nothing of it is in a URL (OAuth 2.0 Form Post Response Mode); false.
   */
  readonly form_post?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends FormPostConfig {}
  interface OAuthServerConfigInput extends FormPostConfig {}
}
