import { z } from 'zod';
import { SCOPE_GROUPS, type ScopeGroup } from './guessing.ts';

/** The setting that groups add to a scope. A problem names this setting, not the whole scope. */
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
   * The group of this scope on the consent page: who the person is, what the client can see, or
   * what it can change. By default, the scope's name decides. OpenID Connect scopes are about the
   * person. A name with a word such as `read` or `view` means seeing, and any other name means
   * changing.
   */
  readonly group?: 'identity' | 'read' | 'change' | undefined;
}

declare module '../../config.ts' {
  interface ScopeConfig extends ScopeGroupConfig {}
  interface ScopeSettings extends ScopeGroupConfig {}
}
