import { z } from 'zod';

const names = z.array(z.string({ error: 'must be the name of a scope' }), {
  error: 'must be a list of scopes',
});

export const optionalScopesShape = {
  optional_scopes: z
    .strictObject(
      { leave_out: names.optional(), add: names.optional() },
      { error: 'must be an object with leave_out, add or both' },
    )
    .optional(),
};

/** The scopes that users can leave out or add on the consent page. A scope can be in both lists. */
export interface OptionalScopesInput {
  /** The scopes that users can leave out if a client requests them. */
  readonly leave_out?: readonly string[] | undefined;
  /**
   * The scopes that users can add if a client does not request them. Use this setting for MCP hosts
   * that always request the same scopes, such as Codex.
   */
  readonly add?: readonly string[] | undefined;
}

export interface OptionalScopesConfig {
  /**
   * The scopes that users can leave out or add on the consent page. `openid` cannot be one of them.
   * By default, users can only allow all requested scopes or none.
   */
  readonly optional_scopes?: OptionalScopesInput | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends OptionalScopesConfig {}
  interface OAuthServerConfigInput extends OptionalScopesConfig {}
}
