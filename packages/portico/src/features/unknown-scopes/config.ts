import { z } from 'zod';

export const unknownScopesShape = {
  unknown_scopes: z
    .enum(['refuse', 'ignore'], { error: 'must be "refuse" or "ignore"' })
    .optional(),
};

export interface UnknownScopesConfig {
  /**
   * What Portico does if a client requests a scope that the server does not offer or that the
   * client is not registered for. `refuse` rejects the request. `ignore` drops the scope, but
   * rejects the request if no scope remains. Default: `refuse`.
   */
  readonly unknown_scopes?: 'refuse' | 'ignore' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends UnknownScopesConfig {}
  interface OAuthServerConfigInput extends UnknownScopesConfig {}
}
