/**
 * The group of a scope on pages. Scopes in `identity` reveal who the user is, scopes in `read` read
 * the user's data, and scopes in `change` make changes for the user.
 */
export type ScopeGroup = 'identity' | 'read' | 'change';

/** All groups, in the order in which pages show them. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = ['identity', 'read', 'change'];

/** `openid` and the scopes from OpenID Connect Core section 5.4. */
const IDENTITY: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone']);
/**
 * A scope whose name contains one of these words, and no word from `CHANGING`, is in the group
 * `read`.
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
/**
 * A scope whose name contains one of these words is in the group `change`, even if the name also
 * contains a word such as `read`.
 */
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
 * Returns the group of a scope for which the configuration sets no group. The words in the scope's
 * name decide. For example, `notes:read` and `drive.readonly` are in the group `read`. A scope with
 * an unclear name is in the group `change`, so that users do not underestimate what they allow.
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
