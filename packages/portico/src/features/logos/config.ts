import { z } from 'zod';

/** The key of `oauth_server` that logos of clients add. */
export const logosShape = {
  client_logos: z.boolean({ error: 'must be true or false' }).optional(),
};

export interface LogosConfig {
  /**
   * Whether an operator may give a client a logo, which is kept in the store and shown on the pages
   * of consent and applications, from `/oauth/logo`; false.
   */
  readonly client_logos?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends LogosConfig {}
  interface OAuthServerConfigInput extends LogosConfig {}
}
