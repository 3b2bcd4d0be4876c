import { expect, test } from 'vitest';
import { shownGroups } from '../../authorization/page-data.ts';
import type { OAuthServerConfig } from '../../config.ts';
import { createScopeCatalog, getSpeakingOptions } from '../../tokens/scopes.ts';
import { Speaking } from '../../pages/speaking.ts';
import { scopeGroups } from './index.ts';

const scopes = {
  'notes:write': 'Write your notes',
  'notes:read': { label: 'Read your notes' },
  plan: { label: 'See your plan', group: 'identity' },
} as const;
const NAMES = ['notes:write', 'plan', 'openid', 'notes:read', 'email'];
const catalog = createScopeCatalog(scopes);
const words = await new Speaking({
  ...getSpeakingOptions({ scopes }),
  folder: null,
  catalogs: {},
}).of(new Request('https://as.example/'));

test('each scope is below the heading of its group, and no heading is empty', () => {
  const headings = scopeGroups.scopeHeadings?.({ scopes } as unknown as OAuthServerConfig) ?? [];
  const shown = (names: readonly string[]) =>
    shownGroups(names, { catalog, headings }, words).map((each) => [
      each.group,
      each.title,
      each.scopes.map(({ name }) => name),
    ]);
  expect(shown(NAMES)).toEqual([
    ['identity', 'Who you are', ['plan', 'openid', 'email']],
    ['read', 'See', ['notes:read']],
    ['change', 'Change', ['notes:write']],
  ]);
  expect(shown(['openid'])).toEqual([['identity', 'Who you are', ['openid']]]);
});

test('without groups, all scopes are in one list', () => {
  const [list, ...more] = shownGroups(NAMES, { catalog, headings: [] }, words);
  expect(list).toMatchObject({ group: 'other', title: 'It will be able to' });
  expect(list?.scopes.map(({ name }) => name)).toEqual(NAMES);
  expect(more).toEqual([]);
});
