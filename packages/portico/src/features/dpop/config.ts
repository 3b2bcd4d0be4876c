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
   * Whether access tokens are bound to a key that the client proves with every request (DPoP, RFC 9449), so that whoever steals one cannot
   * use it: `accept` for clients that send proofs, `require` for all, or `off`, which it is.
   */
  readonly dpop?: 'off' | 'accept' | 'require' | undefined;
  /** Whether each proof has to carry a nonce that this server gave out in the last minutes (RFC 9449 section 8); false. */
  readonly dpop_nonces?: boolean | undefined;
}

export interface DpopScopeConfig {
  /** Whether only a token that is bound to a key has it (DPoP), for which `oauth_server:dpop` must not be off; false. */
  readonly dpop?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends DpopConfig {}
  interface OAuthServerConfigInput extends DpopConfig {}
  interface ScopeConfig extends DpopScopeConfig {}
  interface ScopeSettings extends DpopScopeConfig {}
}
