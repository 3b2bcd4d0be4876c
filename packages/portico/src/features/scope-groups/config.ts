import { z } from 'zod';
import { SCOPE_GROUPS, type ScopeGroup } from './guessing.ts';

/**
 * The setting that this feature adds to a scope. Error messages name this setting, not the whole
 * scope.
 */
export const scopeGroupShape = {
  group: z
    .custom<ScopeGroup>(() => true)
    .superRefine((value: unknown, context) => {
      if (SCOPE_GROUPS.some((group) => group === value)) return;
      context.addIssue({ code: 'custom', message: 'must be "identity", "read" or "change"' });
    })
    .optional(),
};

export interface ScopeGroupConfig {
  /**
   * The group of this scope on the consent page: who the user is, what the client can see, or what
   * it can change. By default, the scope's name decides: OpenID Connect scopes are in `identity`,
   * names with a word such as `read` or `view` are in `read`, and all other names are in `change`.
   */
  readonly group?: 'identity' | 'read' | 'change' | undefined;
}

declare module '../../config.ts' {
  interface ScopeConfig extends ScopeGroupConfig {}
  interface ScopeSettings extends ScopeGroupConfig {}
}
