import { z } from 'zod';

/** The key of `oauth_server` that this feature adds. */
export const unknownScopesShape = {
  unknown_scopes: z.enum(['refuse', 'ignore'], { error: 'must be refuse or ignore' }).optional(),
};

export interface UnknownScopesConfig {
  /**
   * What happens to requested scopes that the server or the client does not have: `refuse`, the
   * default, or `ignore`, which drops them as long as another scope remains.
   */
  readonly unknown_scopes?: 'refuse' | 'ignore' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends UnknownScopesConfig {}
  interface OAuthServerConfigInput extends UnknownScopesConfig {}
}
