/**
 * The group of a scope on pages. A scope reveals who the user is, reads the user's data, or makes
 * changes for the user.
 */
export type ScopeGroup = 'identity' | 'read' | 'change';

/** All groups, in display order. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = ['identity', 'read', 'change'];

/** `openid` and the scopes from OpenID Connect Core section 5.4. */
const IDENTITY: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone']);
/**
 * Words that mean reading. A scope whose name contains one of these words is in the group `read`.
 */
const READING: ReadonlySet<string> = new Set([
  'read',
  'readonly',
  'reader',
  'view',
  'viewer',
  'list',
  'get',
  'see',
  'search',
  'download',
  'export',
]);
/** Words that mean more than reading. They take precedence over words that mean reading. */
const CHANGING: ReadonlySet<string> = new Set([
  'write',
  'readwrite',
  'writer',
  'admin',
  'manage',
  'edit',
  'create',
  'update',
  'delete',
  'send',
  'all',
  'full',
]);

/**
 * Returns the group of a scope if the configuration sets none. The words in the scope's name
 * decide: `notes:read` and `drive.readonly` are in the group `read`. A scope with an unclear name
 * is in the group `change`, so that users do not underestimate what they allow.
 */
export function guessedGroup(name: string): ScopeGroup {
  if (IDENTITY.has(name)) return 'identity';
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const reads =
    words.some((word) => READING.has(word)) && !words.some((word) => CHANGING.has(word));
  return reads ? 'read' : 'change';
}
