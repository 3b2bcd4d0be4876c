import { z } from 'zod';
import { SCOPE_GROUPS, type ScopeGroup } from './guessing.ts';

/** Error messages name this setting instead of the whole scope. */
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
   * The group of this scope on the consent page. `identity`: who the user is. `read`: what the
   * client can see. `change`: what the client can change. By default, the scope's name decides:
   * OpenID Connect scopes are in `identity`, names with a word such as `read` or `view` are in
   * `read`, and all other names are in `change`.
   */
  readonly group?: 'identity' | 'read' | 'change' | undefined;
}

declare module '../../config.ts' {
  interface ScopeConfig extends ScopeGroupConfig {}
  interface ScopeSettings extends ScopeGroupConfig {}
}
