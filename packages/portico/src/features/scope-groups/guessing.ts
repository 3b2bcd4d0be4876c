/**
 * What a scope is about, as people are shown it: who they are, what is read, and what is changed in
 * their name.
 */
export type ScopeGroup = 'identity' | 'read' | 'change';

/** All groups, in display order. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = ['identity', 'read', 'change'];

/** The scopes of OpenID Connect Core section 5.4, and `openid`. */
const IDENTITY: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone']);
/** Words in the names of scopes that read something. */
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
/** Words that mean more than reading. Beside a word of the list above, these decide. */
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
 * The group of a scope whose configuration names none, from the words of its name: `notes:read` and
 * `drive.readonly` read something. An unclear name counts as a change, so that people are never
 * told less than what they allow.
 */
export function guessedGroup(name: string): ScopeGroup {
  if (IDENTITY.has(name)) return 'identity';
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const reads = words.some((word) => READING.has(word)) && !words.some((word) => CHANGING.has(word));
  return reads ? 'read' : 'change';
}
