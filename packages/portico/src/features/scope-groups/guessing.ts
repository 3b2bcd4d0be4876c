/**
 * `identity`: scopes that reveal who the user is. `read`: scopes that read the user's data.
 * `change`: scopes that make changes for the user.
 */
export type ScopeGroup = 'identity' | 'read' | 'change';

/** All groups, in the order of the pages. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = ['identity', 'read', 'change'];

/** `openid` and the scopes from OpenID Connect Core section 5.4. */
const IDENTITY: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone']);
/** A name with one of these words, and no word from `CHANGING`, is in the group `read`. */
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
 * A name with one of these words is in the group `change`, even if it also contains a word such as
 * `read`.
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
 * Returns the group of a scope without a configured group. The words in its name decide. Examples:
 * `notes:read` and `drive.readonly` are in `read`. An unclear name is in `change`, so users do not
 * underestimate what they allow.
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
