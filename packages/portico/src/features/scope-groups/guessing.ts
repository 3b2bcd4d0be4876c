/**
 * The groups in which the pages show scopes. A scope tells who the person is, reads their data, or
 * makes changes for them.
 */
export type ScopeGroup = 'identity' | 'read' | 'change';

/** All groups, in display order. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = ['identity', 'read', 'change'];

/** The scopes of OpenID Connect Core section 5.4, and `openid`. */
const IDENTITY: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone']);
/** If a scope name contains one of these words, the scope reads something. */
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
/** These words mean more than reading. In a name with words from both lists, these decide. */
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
 * Returns the group of a scope whose configuration names no group. The words in the scope name
 * decide: `notes:read` and `drive.readonly` read something. An unclear name counts as a change, so
 * that people never underestimate what they allow.
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
