import { createScopeCatalog } from '../tokens/scopes.ts';
import { warning, type Finding } from './checks.ts';
import type { Subject } from './subject.ts';

/** Who gets in to the administrator's pages beside those who are meant. Nothing where there is nothing to say. */
export function examineAdministration({ server: { config } }: Subject): readonly Finding[] {
  const { admin_permission: permission, scopes } = config;
  if (permission === undefined) return [];
  const catalog = [...createScopeCatalog(scopes).values()];
  const shared = catalog.filter((scope) => scope.permission === permission).map(({ name }) => name);
  if (shared.length === 0) return [];
  return [
    warning(
      `oauth_server:admin_permission: ${permission} is also what people need for the scope ${shared.join(', ')}, so whoever may use that API administers this server`,
      'give the pages a permission of their own, which no scope has (docs/administration.md)',
    ),
  ];
}
