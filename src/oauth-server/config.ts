import { z } from 'zod';
import { LONGEST_LIFETIME } from '../contracts/lifetimes.ts';
import type { ClaimsMapper } from './tokens/claims.ts';
import { IDENTITY_SCOPES, isScopeToken, OFFLINE_ACCESS } from './tokens/scopes.ts';

const required = (what: string, hint: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is missing; ${hint}` : `must be ${what}; ${hint}`,
});

const seconds = z
  .int({ error: 'must be a whole number of seconds' })
  .min(1, 'must be at least 1 second')
  .max(LONGEST_LIFETIME, `must be at most ${LONGEST_LIFETIME} seconds, a century`);

const nonEmptyText = (what: string, hint: string) =>
  z.string(required(what, hint)).refine((text) => text.trim() !== '', `is empty; ${hint}`);

const scopeDefinition = z.union(
  [
    nonEmptyText('a label', 'say what it allows, in words for the person who is asked'),
    z.strictObject({
      label: nonEmptyText('a label', 'say what it allows, in words for the person who is asked'),
      permission: nonEmptyText('a permission', 'name the permission a person must hold').optional(),
    }),
  ],
  { error: 'must be a label, or an object { label, permission }' },
);

const scopesHint = "map each scope to a label, for example { 'notes:read': 'Read your notes' }";

const scopeName = z
  .string()
  .refine(isScopeToken, 'is not a scope name (RFC 6749 section 3.3)')
  .refine(
    (name) => name !== OFFLINE_ACCESS && !Object.hasOwn(IDENTITY_SCOPES, name),
    'is built in and needs no configuring; remove it',
  );

const scopes = z.record(scopeName, scopeDefinition, required('a map of scope names', scopesHint));

const audience = z
  .string({ error: 'must be the URL of the API that tokens are for, or empty' })
  .refine((value) => value === '' || isAbsoluteUri(value), 'must be an absolute URL without a fragment');

function isAbsoluteUri(value: string): boolean {
  // RFC 8707 section 2: an absolute URI without a fragment.
  return URL.canParse(value) && !value.includes('#') && /^https?:\/\//i.test(value);
}

/** The section `oauth_server` of the configuration, with its defaults. Times are in seconds. */
export const oauthServerConfiguration = z.strictObject({
  name: nonEmptyText('a display name', 'set the name that people know your application by'),
  scopes,
  audience: audience.default(''),
  login_route: nonEmptyText('a route name or a path', 'name the route of your sign-in page').default('login'),
  routes: z.boolean({ error: 'must be true or false' }).default(true),
  claims: z
    .custom<ClaimsMapper>(
      (value) => typeof value === 'function',
      'must be a function (user) => map of claims',
    )
    .optional(),
  key_path: nonEmptyText('a directory', 'name the directory of the signing keys').default(
    'storage/oauth/keys',
  ),
  access_token_ttl: seconds.default(3600),
  refresh_token_ttl: seconds.default(2_592_000),
  id_token_ttl: seconds.default(3600),
  code_ttl: seconds.default(60),
  consent_ttl: seconds.default(600),
});

/** The validated section `oauth_server`. */
export type OAuthServerConfig = z.output<typeof oauthServerConfiguration>;
/** What an application writes in its section `oauth_server`. */
export type OAuthServerConfigInput = z.input<typeof oauthServerConfiguration>;
