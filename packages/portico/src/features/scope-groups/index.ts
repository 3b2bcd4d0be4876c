import { defineFeature } from '../../feature.ts';
import { scopeGroupShape } from './config.ts';
import { guessedGroup, SCOPE_GROUPS } from './guessing.ts';

/** Sorts scopes on pages into groups: who the user is, what the client reads, what it changes. */
export const scopeGroups = defineFeature({
  name: 'scope_groups',
  scopeConfig: scopeGroupShape,
  scopeHeadings: ({ scopes }) =>
    SCOPE_GROUPS.map((group) => ({
      group,
      title: `scopes.${group}` as const,
      holds(name) {
        const configured = scopes[name];
        const chosen = typeof configured === 'object' ? configured.group : undefined;
        return (chosen ?? guessedGroup(name)) === group;
      },
    })),
});
