import type { Finding, Server } from 'portico';
import { warning } from 'portico/extension';

/**
 * Warns if a scope requires the same permission as the administrator's pages. Every user who may
 * grant that scope can also administer the server.
 */
export function examinePermission(
  permission: string,
  scopes: Server['scopes'],
): readonly Finding[] {
  const shared = [...scopes.values()]
    .filter((scope) => scope.permission === permission)
    .map(({ name }) => name);
  if (shared.length === 0) return [];
  return [
    warning(
      `oauth_server:admin_permission: the scope ${shared.join(', ')} requires the same ` +
        `permission (${permission}), so everyone who can use that scope can also administer ` +
        'this server',
      'use a separate permission that no scope requires (docs/administration.md)',
    ),
  ];
}
