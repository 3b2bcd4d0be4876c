import { z } from 'zod';
import { trueOrFalse } from '../../config.ts';

export const dpopShape = {
  dpop: z
    .enum(['off', 'accept', 'require'], { error: 'must be "off", "accept" or "require"' })
    .optional(),
  dpop_nonces: trueOrFalse.optional(),
};

export const dpopScopeShape = {
  dpop: trueOrFalse.optional(),
};

export interface DpopConfig {
  /**
   * Whether Portico binds access tokens to a key of the client (DPoP, RFC 9449). A stolen token
   * alone is then useless, because the client must prove in every request that it has the key.
   * `accept` binds the tokens of clients that send proofs. `require` requires proofs from all
   * clients. Default: `off`.
   */
  readonly dpop?: 'off' | 'accept' | 'require' | undefined;
  /**
   * Whether each proof must contain a nonce that the server has issued within the last few minutes
   * (RFC 9449 section 8). Default: false.
   */
  readonly dpop_nonces?: boolean | undefined;
}

export interface DpopScopeConfig {
  /**
   * Whether this scope requires a token that is bound to a key. If true, `oauth_server:dpop` must
   * not be `off`. Default: false.
   */
  readonly dpop?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends DpopConfig {}
  interface OAuthServerConfigInput extends DpopConfig {}
  interface ScopeConfig extends DpopScopeConfig {}
  interface ScopeSettings extends DpopScopeConfig {}
}
