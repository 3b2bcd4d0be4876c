import type { ConfigurationProblem } from '@portico/sql';
import type { OAuthServerConfig } from '../../config.ts';
import { defineFeature } from '../../feature.ts';
import { createScopeCatalog } from '../../tokens/scopes.ts';
import { optionalScopesShape } from './config.ts';

/** Users can leave out and add scopes on the consent page. */
export const optionalScopes = defineFeature({
  name: 'optional_scopes',
  config: optionalScopesShape,
  problems: ({ scopes, optional_scopes: lists = {} }) =>
    LISTS.flatMap((list) => (lists[list] ?? []).flatMap((name) => problemsOf(name, list, scopes))),
  start(_, { optional_scopes: lists }) {
    if (lists === undefined) return {};
    const optional = new Set(lists.leave_out);
    return {
      scopeChoices: { isOptional: (name) => optional.has(name), added: [...new Set(lists.add)] },
    };
  },
});

const LISTS = ['leave_out', 'add'] as const;

function problemsOf(
  name: string,
  list: (typeof LISTS)[number],
  scopes: OAuthServerConfig['scopes'],
): readonly ConfigurationProblem[] {
  const key = `oauth_server:optional_scopes:${list}`;
  if (name === 'openid') {
    return [
      {
        key,
        message: 'cannot contain openid, because the client decides whether it needs an ID token',
      },
    ];
  }
  if (createScopeCatalog(scopes).has(name)) return [];
  const message = `contains ${JSON.stringify(name)}, which is not a scope; add it to oauth_server:scopes`;
  return [{ key, message }];
}
