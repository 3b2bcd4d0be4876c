import { z } from 'zod';

/** The setting that this feature adds to `oauth_server`. */
export const unknownScopesShape = {
  unknown_scopes: z
    .enum(['refuse', 'ignore'], { error: 'must be "refuse" or "ignore"' })
    .optional(),
};

export interface UnknownScopesConfig {
  /**
   * What Portico does when a client requests a scope that the server or the client does not have.
   * `refuse` rejects the request. `ignore` drops the scope, but rejects the request if no scope
   * remains. Default: `refuse`.
   */
  readonly unknown_scopes?: 'refuse' | 'ignore' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends UnknownScopesConfig {}
  interface OAuthServerConfigInput extends UnknownScopesConfig {}
}
