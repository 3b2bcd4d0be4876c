import { z } from 'zod';
import { SCOPE_GROUPS, type ScopeGroup } from './guessing.ts';

/** The key of a scope that groups add. Its problem is about this key, not about the whole scope. */
export const scopeGroupShape = {
  group: z
    .custom<ScopeGroup>(() => true)
    .superRefine((value: unknown, context) => {
      if (SCOPE_GROUPS.some((group) => group === value)) return;
      context.addIssue({ code: 'custom', message: 'must be identity, read or change' });
    })
    .optional(),
};

export interface ScopeGroupConfig {
  /**
   * The group that the consent screen shows it in: who the person is, what the client may see, or
   * what it may change. By default the name decides: a scope with `read`, `view` and the like is
   * for seeing, any other for changing.
   */
  readonly group?: 'identity' | 'read' | 'change' | undefined;
}

declare module '../../config.ts' {
  interface ScopeConfig extends ScopeGroupConfig {}
  interface ScopeSettings extends ScopeGroupConfig {}
}
