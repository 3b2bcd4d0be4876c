import { z } from 'zod';

/** The keys of `oauth_server` that DPoP adds. */
export const dpopShape = {
  dpop: z.enum(['off', 'accept', 'require'], { error: 'must be off, accept or require' }).optional(),
  dpop_nonces: z.boolean({ error: 'must be true or false' }).optional(),
};

/** The key of a scope that DPoP adds. */
export const dpopScopeShape = {
  dpop: z.boolean({ error: 'must be true or false' }).optional(),
};

export interface DpopConfig {
  /**
   * Whether access tokens are bound to a key that the client proves with every request (DPoP, RFC
   * 9449), so that a stolen token cannot be used: `accept` for clients that send proofs, `require`
   * for all, or `off`, the default.
   */
  readonly dpop?: 'off' | 'accept' | 'require' | undefined;
  /**
   * Whether each proof must have a nonce that the server gave out in the last minutes (RFC 9449
   * section 8); false.
   */
  readonly dpop_nonces?: boolean | undefined;
}

export interface DpopScopeConfig {
  /**
   * Whether only tokens that are bound to a key can have it. `oauth_server:dpop` must not be off
   * then; false.
   */
  readonly dpop?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends DpopConfig {}
  interface OAuthServerConfigInput extends DpopConfig {}
  interface ScopeConfig extends DpopScopeConfig {}
  interface ScopeSettings extends DpopScopeConfig {}
}
